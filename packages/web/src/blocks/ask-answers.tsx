/**
 * The answers to a permission or a plan: once, for longer, or no, with a reason for the agent. Each has a number; "no" always has
 * the same one, whatever else is offered, so that the hand that denies never allows. Who denies may say why: Enter sends that, also
 * empty, and Escape goes back to the buttons.
 */

import { type Ask, allowingAnswers, answerLabel, furtherAnswers } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { isComposing } from "../ui/composing.ts";
import { Message } from "../ui/message.tsx";
import type { GiveAnswer } from "./ask-answer.ts";
import { ANSWER_MESSAGE_CHARS, SHOWN_ANSWERS } from "./limits.ts";

/** No allowing answer ever has this number. */
const DENY_KEY = 0;
/** Answers after the last number key have none. */
const LAST_KEY = 9;

/** Reasons being typed, by request: a row that leaves the screen and comes back keeps its state. */
const reasons = new Map<string, string>();

export function forgetReason(draft: string): void {
  reasons.delete(draft);
}

interface AnswersProps {
  readonly ask: Ask;
  /** Under which name a reason that is being written is remembered. */
  readonly draft: string;
  readonly isReady: boolean;
  readonly onAnswer: GiveAnswer;
  /** Other actions, after the answers. */
  readonly more?: ReactNode;
}

export function Answers({ ask, draft, isReady, onAnswer, more }: AnswersProps): ReactNode {
  const [isDenying, setDenying] = useState(reasons.has(draft));
  const deny = useRef<HTMLButtonElement>(null);
  // Only when the user has just gone back: a row that comes back to the screen takes no focus.
  const wasDenying = useRef(isDenying);
  useEffect(() => {
    if (wasDenying.current && !isDenying) deny.current?.focus();
    wasDenying.current = isDenying;
  }, [isDenying]);
  if (isDenying)
    return (
      <Denial
        {...{ ask, draft, isReady, onAnswer }}
        onBack={() => {
          reasons.delete(draft);
          setDenying(false);
        }}
      />
    );
  return (
    <Choices
      {...{ ask, isReady, onAnswer, deny, more }}
      onDeny={() => {
        reasons.set(draft, "");
        setDenying(true);
      }}
    />
  );
}

interface ChoicesProps extends Omit<AnswersProps, "draft"> {
  readonly deny: { readonly current: HTMLButtonElement | null };
  readonly onDeny: () => void;
}

function Choices({ ask, isReady, onAnswer, deny, onDeny, more }: ChoicesProps): ReactNode {
  const [isAll, setAll] = useState(false);
  const isPlan = ask.kind === "plan";
  const answers = allowingAnswers(ask);
  const offered = answers.filter((each) => each !== undefined);
  const shown = isAll ? offered : offered.slice(0, SHOWN_ANSWERS);
  const hasPlain = offered.length < answers.length;
  const number = (at: number) => at + (hasPlain ? 2 : 1);
  return (
    <div className="agent-ask-buttons">
      {hasPlain && (
        <AnswerButton number={1} isPrimary isReady={isReady} onPress={() => onAnswer(true)}>
          {isPlan ? "Approve" : "Allow once"}
        </AnswerButton>
      )}
      {shown.map((each, at) => (
        <AnswerButton
          key={each.id}
          number={number(at)}
          isPrimary={!hasPlain && at === 0}
          isReady={isReady}
          onPress={() => onAnswer(true, "", { suggestion: each.id })}
        >
          <Message text={answerLabel(each)} />
        </AnswerButton>
      ))}
      <button
        type="button"
        ref={deny as { current: HTMLButtonElement | null }}
        data-deny
        data-key={DENY_KEY}
        disabled={!isReady}
        onClick={onDeny}
      >
        <span className="key" aria-hidden="true">
          {DENY_KEY}
        </span>
        <span>{isPlan ? "Keep planning…" : "Deny…"}</span>
      </button>
      {shown.length < offered.length && (
        <button type="button" className="quiet-button" onClick={() => setAll(true)}>
          More answers…
        </button>
      )}
      {more}
    </div>
  );
}

interface AnswerButtonProps {
  readonly number: number;
  readonly isPrimary?: boolean;
  readonly isReady: boolean;
  readonly onPress: () => void;
  readonly children: ReactNode;
}

function AnswerButton({
  number,
  isPrimary = false,
  isReady,
  onPress,
  children,
}: AnswerButtonProps): ReactNode {
  return (
    <button
      type="button"
      className={isPrimary ? "primary" : ""}
      data-key={number > LAST_KEY ? undefined : number}
      disabled={!isReady}
      onClick={onPress}
    >
      {number <= LAST_KEY && (
        <span className="key" aria-hidden="true">
          {number}
        </span>
      )}
      <span>{children}</span>
    </button>
  );
}

function Denial({
  ask,
  draft,
  isReady,
  onAnswer,
  onBack,
}: AnswersProps & { readonly onBack: () => void }): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  const isPlan = ask.kind === "plan";
  const isNew = useRef(reasons.get(draft) === "");
  useEffect(() => {
    if (isNew.current) field.current?.focus();
  }, []);
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
        aria-label={isPlan ? "Comment for the agent" : "Reason for the agent"}
        placeholder={isPlan ? "What should change?" : "Reason for the agent (optional)"}
        maxLength={ANSWER_MESSAGE_CHARS}
        defaultValue={reasons.get(draft)}
        onChange={(event) => reasons.set(draft, event.currentTarget.value)}
        onKeyDown={(event) => {
          const isOwn = !isComposing(event.nativeEvent);
          // A form submits itself with this key.
          if (event.key === "Enter" && !isOwn) event.preventDefault();
          if (event.key !== "Escape" || !isOwn) return;
          event.stopPropagation();
          onBack();
        }}
      />
      <button type="submit" disabled={!isReady}>
        {isPlan ? "Keep planning" : "Deny"}
      </button>
      {furtherAnswers(ask)
        .filter(({ deny }) => deny === true)
        .map((each) => (
          <button
            key={each.id}
            type="button"
            disabled={!isReady}
            onClick={() => onAnswer(false, field.current?.value.trim(), { suggestion: each.id })}
          >
            <Message text={answerLabel(each)} />
          </button>
        ))}
      <button type="button" className="quiet-button" onClick={onBack}>
        Back
      </button>
    </form>
  );
}
