/**
 * An error: what happened, what can be done about it, and the provider's own details for whoever needs them. One that stopped
 * nothing is a notice.
 */
import { isNotice, metadataOf, timesText } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { Details } from "./fold.tsx";
import { JsonView } from "./json-view.tsx";
import { Notice } from "./notice.tsx";
import type { RendererProps } from "./renderer.ts";

/** By a word in the code or the message; the first that fits is shown. */
const ADVICE: readonly (readonly [RegExp, string])[] = [
  [
    /auth|api.?key|401|credential|login/i,
    "Sign in to the provider again or check your API key, then resend the prompt.",
  ],
  [/rate.?limit|429/i, "Rate limited. Wait a moment, then resend the prompt."],
  [/overload|529|503|server_error|500/i, "Provider error. Try again later."],
  [/model.?not.?found|404|model/i, "Choose another model in the composer and resend the prompt."],
  [
    /budget|max_turns|max_budget/i,
    "This run reached a limit. Continue with a new prompt, or raise the limit.",
  ],
  [
    /too.?long|context|max_tokens|output_tokens|too_large/i,
    "The conversation is too long for the model. Exclude blocks from the context or fork earlier, then continue.",
  ],
  [
    /network|connect|timeout|timed out|econn/i,
    "Couldn't reach the provider. Check the network and try again.",
  ],
  [/by signal|exit code/i, "The agent's process exited. Retry to start it again."],
];

export function ErrorBlock({ block }: RendererProps): ReactNode {
  const text = useText(block.id, block.chars > 0);
  const { code, details, retryable } = metadataOf(block, "error");
  const message = text?.toString() ?? code ?? "Something went wrong";
  if (isNotice(block)) return <Notice block={block} icon="warn" text={message} details={details} />;
  const advice = ADVICE.find(([pattern]) => pattern.test(`${code ?? ""} ${message}`))?.[1];
  return (
    <div className="error-block" role="note">
      <Icon name="warn" />
      <div className="error-main">
        <div className="error-message">
          {breakable(message)} <span className="times">{timesText(block.metadata)}</span>
        </div>
        <div className="error-advice">
          {advice ?? (retryable ? "Trying again may help." : "Copy the details if you report this.")}
        </div>
        {(details !== undefined || code !== undefined) && (
          <Details name={`${block.id}:details`} summary={<ErrorDetails code={code} />}>
            {() => <JsonView value={details ?? { code: code ?? null }} name={block.id} />}
          </Details>
        )}
      </div>
    </div>
  );
}

function ErrorDetails({ code }: { code: string | undefined }): ReactNode {
  return <span>Details {code !== undefined && <code className="dim">{code}</code>}</span>;
}
