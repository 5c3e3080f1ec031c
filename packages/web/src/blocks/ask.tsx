/**
 * An ask: what a tool asks to do, exactly, and two buttons. Bound to this one call. The buttons do not work for the
 * first half second after they appear, so that a click or key that was meant for something else allows nothing. Who does
 * not allow it may say why, for the agent: Enter sends that, also empty, and Escape goes back to the buttons.
 */
import { type Ask, askWords, type Block, exactText, isProblem } from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { diffRows } from "../diff/diff-rows.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { useIsViewer, useSession } from "../state/session.tsx";
import { isComposing } from "../ui/composing.ts";
import { Message } from "../ui/message.tsx";
import { useSettled } from "../ui/wait.ts";

/** What `turn.answer` takes. */
const MESSAGE_CHARS = 10_000;

/** Reasons that are being written, by request: a row that leaves the screen and comes back is as it was. */
const reasons = new Map<string, string>();

export function AskView({ block, ask }: { block: Block; ask: Ask }): ReactNode {
  const session = useSession();
  if (ask.state !== "asked")
    return (
      <div className={`agent-ask answered ${ask.state}`}>
        {askWords(ask, session.replica.self?.agent, block.metadata["reason"])}
      </div>
    );
  return <Question key={ask.id} block={block} ask={ask} />;
}

function Question({ block, ask }: { block: Block; ask: Ask }): ReactNode {
  const session = useSession();
  const isViewer = useIsViewer();
  const isSettled = useSettled(ask.id);
  const [isAnswering, setAnswering] = useState(false);
  const [failure, setFailure] = useState("");
  const isReady = isSettled && !isAnswering;
  const answer = async (allow: boolean, message = "") => {
    setAnswering(true);
    const said = await session.write("turn.answer", {
      ...{ block_id: block.id, ask_id: ask.id, allow },
      ...(message === "" ? {} : { message }),
    });
    if (!isProblem(said)) return void reasons.delete(ask.id);
    setFailure(said.message);
    setAnswering(false);
  };
  const diff = ask.subject?.type === "diff" ? ask.subject.diff : undefined;
  const input = ask.input ?? block.metadata["input"];
  return (
    <section className="agent-ask" aria-label="Needs approval">
      <div className="agent-ask-title">{ask.title ?? "This tool needs approval"}</div>
      {diff !== undefined && <AskedDiff diff={diff} />}
      {input !== undefined && <Input input={input} title={ask.title} isClosed={diff !== undefined} />}
      {isViewer ? (
        <p className="dim">Waiting for the owner's answer.</p>
      ) : (
        <Answers id={ask.id} isReady={isReady} onAnswer={answer} />
      )}
      {failure && (
        <p className="bad" role="alert">
          <Message text={failure} />
        </p>
      )}
    </section>
  );
}

/** The change that a call asks for, with what cannot be seen made visible. */
function AskedDiff({ diff }: { diff: string }): ReactNode {
  const rows = useMemo(() => diffRows(exactText(diff)), [diff]);
  return (
    <div className="agent-asked-diff">
      <DiffView rows={rows} label="what it would change" />
    </div>
  );
}

interface InputProps {
  readonly input: unknown;
  readonly title: string | undefined;
  readonly isClosed: boolean;
}

function Input({ input, title, isClosed }: InputProps): ReactNode {
  const exact = <pre className="exact">{exactText(inputText(input, title))}</pre>;
  if (!isClosed) return exact;
  return (
    <details>
      <summary className="dim">The exact input</summary>
      {exact}
    </details>
  );
}

interface AnswersProps {
  readonly id: string;
  readonly isReady: boolean;
  readonly onAnswer: (allow: boolean, message?: string) => void;
}

function Answers({ id, isReady, onAnswer }: AnswersProps): ReactNode {
  const [isDenying, setDenying] = useState(reasons.has(id));
  const field = useRef<HTMLInputElement>(null);
  const deny = useRef<HTMLButtonElement>(null);
  // Only who has just gone there or back: a row that comes back to the screen takes no focus.
  const wasDenying = useRef(isDenying);
  useEffect(() => {
    if (wasDenying.current !== isDenying) (isDenying ? field : deny).current?.focus();
    wasDenying.current = isDenying;
  }, [isDenying]);
  const ask = () => {
    reasons.set(id, "");
    setDenying(true);
  };
  const goBack = () => {
    reasons.delete(id);
    setDenying(false);
  };
  if (!isDenying)
    return (
      <div className="agent-ask-buttons">
        <button type="button" className="primary" disabled={!isReady} onClick={() => onAnswer(true)}>
          Allow once
        </button>
        <button type="button" ref={deny} disabled={!isReady} onClick={ask}>
          Deny…
        </button>
      </div>
    );
  return (
    <form
      className="agent-ask-buttons"
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) onAnswer(false, field.current?.value.trim());
      }}
    >
      <input
        ref={field}
        aria-label="Reason, for the agent"
        placeholder="Reason for the agent (optional)"
        maxLength={MESSAGE_CHARS}
        defaultValue={reasons.get(id)}
        onChange={(event) => reasons.set(id, event.currentTarget.value)}
        onKeyDown={(event) => {
          const isOwn = !isComposing(event.nativeEvent);
          // A form sends itself by this key, whoever it is for.
          if (event.key === "Enter" && !isOwn) event.preventDefault();
          if (event.key !== "Escape" || !isOwn) return;
          event.stopPropagation();
          goBack();
        }}
      />
      <button type="submit" disabled={!isReady}>
        Deny
      </button>
      <button type="button" className="quiet-button" onClick={goBack}>
        Back
      </button>
    </form>
  );
}

/** A single command as it will run, with what else was given and is not the title already; anything else as JSON. */
function inputText(input: unknown, title: string | undefined): string {
  const { command, description, ...rest } = (input ?? {}) as { command?: unknown; description?: unknown };
  if (typeof command !== "string") return JSON.stringify(input, null, 2);
  const isTold = description === undefined || description === title;
  const more = JSON.stringify(isTold ? rest : { description, ...rest }, null, 2);
  return more === "{}" ? command : `${command}\n\n${more}`;
}
