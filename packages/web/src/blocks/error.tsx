/**
 * An error: what happened, what can be done about it, and the provider's own details for whoever needs them. One that stopped
 * nothing is a notice.
 */
import { isNotice, knownCode, metadataOf, timesText } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { Details } from "./collapse.tsx";
import { errorWords } from "./error-words.ts";
import { JsonView } from "./json-view.tsx";
import { Notice } from "./notice.tsx";
import type { RendererProps } from "./renderer.ts";

export function ErrorBlock({ block }: RendererProps): ReactNode {
  const text = useText(block.id, block.chars > 0);
  const failure = metadataOf(block, "error");
  const message = text?.toString() ?? knownCode(failure.code) ?? "Something went wrong";
  if (isNotice(block)) return <Notice block={block} icon="warn" text={message} details={failure.details} />;
  const { advice, name, details } = errorWords(message, failure);
  return (
    <div className="error-block" role="note">
      <Icon name="warn" />
      <div className="error-main">
        <div className="error-message">
          {breakable(message)} <span className="times">{timesText(block.metadata)}</span>
        </div>
        <div className="error-advice">{advice}</div>
        {details !== undefined && (
          <Details name={`${block.id}:details`} summary={<ErrorDetails name={name} />}>
            {() => <JsonView value={details} name={block.id} />}
          </Details>
        )}
      </div>
    </div>
  );
}

function ErrorDetails({ name }: { name: string | undefined }): ReactNode {
  return <span>Details {name !== undefined && <code className="dim">{name}</code>}</span>;
}
