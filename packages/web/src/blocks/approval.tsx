/**
 * An approval: what a tool asks to do, exactly, and two buttons. Bound to this one call. The buttons do not work for the
 * first half second after they appear, so that a click or key that was meant for something else allows nothing.
 */
import { type Block, isProblem, type Metadata } from "@blockyard/kernel";
import { type ReactNode, useState } from "react";
import { exactText } from "../format.ts";
import { useIsViewer, useSession } from "../session.tsx";
import { useSettled } from "../wait.ts";

type Asked = NonNullable<Metadata<"tool_call">["approval"]>;

const ANSWERED = { allowed: "Allowed", denied: "Not allowed", expired: "Nobody answered in time" } as const;

export function Approval({ block, approval }: { block: Block; approval: Asked }): ReactNode {
  if (approval.state !== "asked")
    return (
      <div className={`approval answered ${approval.state}`}>
        {ANSWERED[approval.state]}
        {approval.answeredBy ? ` by ${approval.answeredBy}` : ""}
        {approval.message ? `: ${approval.message}` : ""}
      </div>
    );
  return <Question key={approval.id} block={block} approval={approval} />;
}

function Question({ block, approval }: { block: Block; approval: Asked }): ReactNode {
  const session = useSession();
  const isViewer = useIsViewer();
  const isSettled = useSettled(approval.id);
  const [isAnswering, setAnswering] = useState(false);
  const [failure, setFailure] = useState("");
  const isReady = isSettled && !isAnswering;
  const answer = async (allow: boolean) => {
    setAnswering(true);
    const said = await session.write("turn.answer", { block_id: block.id, approval_id: approval.id, allow });
    if (!isProblem(said)) return;
    setFailure(said.message);
    setAnswering(false);
  };
  const input = approval.input ?? block.metadata["input"];
  return (
    <section className="approval" aria-label="This tool asks for permission">
      <div className="approval-title">{approval.title ?? "This tool asks for permission"}</div>
      {input !== undefined && <pre className="exact">{exactText(inputText(input))}</pre>}
      {isViewer ? (
        <p className="dim">It waits for the owner's answer.</p>
      ) : (
        <div className="approval-buttons">
          <button type="button" className="primary" disabled={!isReady} onClick={() => answer(true)}>
            Allow this once
          </button>
          <button type="button" disabled={!isReady} onClick={() => answer(false)}>
            Do not allow
          </button>
          {failure && <span className="bad">{failure}</span>}
        </div>
      )}
    </section>
  );
}

/** A single command as it will run; anything else as JSON. */
function inputText(input: unknown): string {
  const command = (input as { command?: unknown } | null)?.command;
  const rest = typeof input === "object" && input !== null ? { ...input, command: undefined } : undefined;
  if (typeof command !== "string") return JSON.stringify(input, null, 2);
  const more = JSON.stringify(rest, null, 2);
  return more === "{}" ? command : `${command}\n\n${more}`;
}
