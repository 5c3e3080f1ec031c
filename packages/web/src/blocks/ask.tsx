/**
 * An ask: what a tool asks to do, exactly, and two buttons, with what the agent suggests besides; questions have a form of their
 * own (ask-questions.tsx). Bound to this one call. The buttons do not work for the
 * first half second after they appear, so that a click or key that was meant for something else allows nothing. Who does
 * not allow it may say why, for the agent: Enter sends that, also empty, and Escape goes back to the buttons.
 */
import {
  type Ask,
  type AskAnswer,
  askWords,
  type Block,
  exactText,
  isProblem,
  type JsonObject,
} from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { diffRows } from "../diff/diff-rows.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { useIsViewer, useSession } from "../state/session.tsx";
import { isComposing } from "../ui/composing.ts";
import { Message } from "../ui/message.tsx";
import { useSettled } from "../ui/wait.ts";
import { Questions } from "./ask-questions.tsx";

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
  const answer = async (allow: boolean, message = "", given?: AskAnswer) => {
    setAnswering(true);
    const said = await session.write("turn.answer", {
      ...{ block_id: block.id, ask_id: ask.id, allow },
      ...(message === "" ? {} : { message }),
      ...(given === undefined ? {} : { answer: given as JsonObject }),
    });
    if (!isProblem(said)) return void reasons.delete(ask.id);
    setFailure(said.message);
    setAnswering(false);
  };
  const diff = ask.subject?.type === "diff" ? ask.subject.diff : undefined;
  const isQuestion = ask.kind === "question";
  // A plan is the text below, and the options say all that a question asks.
  const input = isQuestion || ask.kind === "plan" ? undefined : (ask.input ?? block.metadata["input"]);
  return (
    <section className="agent-ask" aria-label={isQuestion ? "Needs an answer" : "Needs approval"}>
      <div className="agent-ask-title">{titleOf(ask)}</div>
      {diff !== undefined && <AskedDiff diff={diff} />}
      {input !== undefined && <Input input={input} title={ask.title} isClosed={diff !== undefined} />}
      {isViewer ? (
        <p className="dim">Waiting for the owner's answer.</p>
      ) : isQuestion ? (
        <Questions
          ask={ask}
          isReady={isReady}
          onAnswer={(given) => void answer(true, "", given)}
          onDecline={() => void answer(false)}
        />
      ) : (
        <Answers ask={ask} isReady={isReady} onAnswer={answer} />
      )}
      {failure && (
        <p className="bad" role="alert">
          <Message text={failure} />
        </p>
      )}
    </section>
  );
}

function titleOf({ kind, title }: Ask): string {
  if (kind === "plan") return "Approve this plan? Edit it first, if you like";
  if (kind === "question") return "The agent asks";
  return title ?? "This tool needs approval";
}

/** The change that a call asks for, with what cannot be seen made visible. */
function AskedDiff({ diff }: { diff: string }): ReactNode {
  const rows = useMemo(() => diffRows(exactText(diff)), [diff]);
  return (
    <div className="asked-diff">
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
  readonly ask: Ask;
  readonly isReady: boolean;
  readonly onAnswer: (allow: boolean, message?: string, given?: AskAnswer) => void;
}

/** What the agent suggests besides: rules that it keeps, or how it goes on after a plan. */
function Suggestions({ ask, isReady, onAnswer }: AnswersProps): ReactNode {
  return (ask.suggestions ?? []).map(({ id, label, deny }) => (
    <button
      key={id}
      type="button"
      className="quiet-button"
      disabled={!isReady}
      onClick={() => onAnswer(deny !== true, "", { suggestion: id })}
    >
      {label}
    </button>
  ));
}

function Answers({ ask: asked, isReady, onAnswer }: AnswersProps): ReactNode {
  const { id } = asked;
  const isPlan = asked.kind === "plan";
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
          {isPlan ? "Approve" : "Allow once"}
        </button>
        <button type="button" ref={deny} disabled={!isReady} onClick={ask}>
          {isPlan ? "Keep planning…" : "Deny…"}
        </button>
        <Suggestions ask={asked} isReady={isReady} onAnswer={onAnswer} />
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
        aria-label={isPlan ? "Remark, for the agent" : "Reason, for the agent"}
        placeholder={isPlan ? "What should change?" : "Reason for the agent (optional)"}
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
        {isPlan ? "Keep planning" : "Deny"}
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
