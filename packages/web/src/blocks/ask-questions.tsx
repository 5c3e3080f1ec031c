/**
 * Questions of an agent: options as radio buttons or checkboxes, own words where it takes some, a note, or none of it. A number key
 * chooses the option of that number in the question that has the focus, else in the first that is not answered yet. Enter goes to
 * the next one that is not, and sends once the reader has been at each.
 */

import { type Ask, type AskAnswer, type AskQuestion, ownValue, Text } from "@blockyard/kernel";
import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import { Markdown } from "../markdown/markdown.tsx";
import { isComposing } from "../ui/composing.ts";
import { Icon } from "../ui/icons.tsx";
import type { GiveAnswer } from "./ask-answer.ts";
import { goToQuestion } from "./ask-sight.ts";
import { ExactWords } from "./exact-words.tsx";
import { ANSWER_CHARS } from "./limits.ts";

/** Options after the last number key have none. */
const LAST_KEY = 9;

type Said = NonNullable<AskAnswer["questions"]>;

/** Answers being chosen, by request: a row that leaves the screen and comes back keeps its state. */
const chosenSoFar = new Map<string, Said>();

interface QuestionsProps {
  readonly ask: Ask;
  /** Under which name what is being written is remembered. */
  readonly draft: string;
  readonly isReady: boolean;
  readonly onAnswer: GiveAnswer;
}

export function Questions({ ask, draft, isReady, onAnswer }: QuestionsProps): ReactNode {
  const [said, setSaid] = useState<Said>(chosenSoFar.get(draft) ?? {});
  const change = (id: string, next: Said[string]) => {
    const all = { ...said, [id]: next };
    chosenSoFar.set(draft, all);
    setSaid(all);
  };
  const questions = ask.questions ?? [];
  const open = questions.filter(({ id }) => !isSaid(ownValue(said, id)));
  const isAnswered = questions.some(
    ({ id }) => isSaid(ownValue(said, id)) && ownValue(said, id)?.skipped !== true,
  );
  const submit = () => {
    if (!isReady || !isAnswered) return;
    chosenSoFar.delete(draft);
    const given = Object.fromEntries(Object.entries(said).filter(([, each]) => isSaid(each)));
    onAnswer(true, "", { questions: given });
  };
  const visited = useRef(new Set<string>());
  const goOn = (form: HTMLElement, from: Element) => {
    visited.current.add(from.closest<HTMLElement>("fieldset")?.dataset["question"] ?? "");
    const next = open.find(({ id }) => !visited.current.has(id));
    if (next === undefined) return submit();
    visited.current.add(next.id);
    goToQuestion(form.querySelector<HTMLElement>(`[data-question="${CSS.escape(next.id)}"] input`));
  };
  return (
    <form
      className="agent-questions"
      onKeyDown={(event) => {
        if (event.key !== "Enter" || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        if (!isComposing(event.nativeEvent)) goOn(event.currentTarget, event.target);
      }}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {questions.map((question) => (
        <Choice
          key={question.id}
          question={question}
          said={ownValue(said, question.id) ?? NOTHING}
          hasKeys={open[0]?.id === question.id || (open.length === 0 && questions.length === 1)}
          isOnly={questions.length === 1}
          onChange={(next) => change(question.id, next)}
        />
      ))}
      <div className="agent-ask-buttons">
        <button type="submit" className="primary" disabled={!isReady || !isAnswered}>
          <span className="key" aria-hidden="true">
            ⏎
          </span>{" "}
          Answer
        </button>
        <button type="button" data-deny disabled={!isReady} onClick={() => onAnswer(false)}>
          Don't answer
        </button>
        {open.length > 0 && open.length < questions.length && (
          <span className="dim">
            {questions.length - open.length} of {questions.length} answered
          </span>
        )}
      </div>
    </form>
  );
}

const NOTHING: Said[string] = { chosen: [] };

function isSaid(said: Said[string] | undefined): boolean {
  if (said === undefined) return false;
  return said.skipped === true || said.chosen.length > 0 || (said.text ?? "").trim() !== "";
}

interface ChoiceProps {
  readonly question: AskQuestion;
  readonly said: Said[string];
  /** The numbers are its own wherever the focus is. */
  readonly hasKeys: boolean;
  /** There is no other: its words are the heading. */
  readonly isOnly: boolean;
  readonly onChange: (said: Said[string]) => void;
}

function Choice({ question, said, hasKeys, isOnly, onChange }: ChoiceProps): ReactNode {
  const { options, multiple } = question;
  const isSkipped = said.skipped === true;
  const { skipped: _skipped, ...kept } = said;
  const toggle = (label: string) => {
    if (!multiple) return onChange({ ...kept, chosen: [label], text: "" });
    const isOn = said.chosen.includes(label);
    const chosen = options
      .map((option) => option.label)
      .filter((each) => (each === label ? !isOn : said.chosen.includes(each)));
    onChange({ ...kept, chosen });
  };
  const onKey = (event: KeyboardEvent) => {
    const option = options[Number(event.key) - 1];
    const isTyping = event.target instanceof HTMLInputElement && /^(text|password)$/.test(event.target.type);
    if (option === undefined || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    toggle(option.label);
  };
  const preview = options.find(({ label }) => said.chosen.includes(label))?.preview;
  return (
    <fieldset
      className={["agent-question", isSkipped && "skipped", hasKeys && "has-keys"].filter(Boolean).join(" ")}
      data-question={question.id}
      onKeyDown={onKey}
    >
      <legend className={isOnly && !multiple ? "sr-only" : ""}>
        {question.header && !isOnly && (
          <span className="agent-question-head">
            <ExactWords text={question.header} isName />
          </span>
        )}
        <span className={isOnly ? "sr-only" : ""}>
          <ExactWords text={question.question} />
        </span>
        {multiple && <span className="dim"> Choose any</span>}
      </legend>
      <div className={preview ? "agent-options beside" : "agent-options"}>
        <Options question={question} chosen={said.chosen} hasKeys={hasKeys} onToggle={toggle} />
        {preview && (
          <div className="agent-preview">
            <Markdown text={Text.of(preview)} isGrowing={false} isAppendOnly={false} />
          </div>
        )}
      </div>
      {(question.freeText === true || options.length === 0) && (
        <OwnAnswer
          question={question}
          text={said.text ?? ""}
          // Free text replaces a single option, and is added to several.
          onText={(text) => onChange({ ...kept, chosen: multiple || text === "" ? said.chosen : [], text })}
        />
      )}
      <Extras {...{ question, said, isOnly, onChange }} />
    </fieldset>
  );
}

interface OptionsProps {
  readonly question: AskQuestion;
  readonly chosen: readonly string[];
  readonly hasKeys: boolean;
  readonly onToggle: (label: string) => void;
}

function Options({ question, chosen, hasKeys, onToggle }: OptionsProps): ReactNode {
  const { id, options, multiple } = question;
  return (
    <div>
      {options.map(({ label, description }, i) => (
        <label key={label} className={chosen.includes(label) ? "agent-option chosen" : "agent-option"}>
          <input
            type={multiple ? "checkbox" : "radio"}
            name={id}
            data-key={hasKeys && i < LAST_KEY ? i + 1 : undefined}
            checked={chosen.includes(label)}
            onChange={() => onToggle(label)}
          />
          <span className="agent-option-words">
            <ExactWords text={label} isName />
            {description && (
              <span className="agent-option-more">
                <ExactWords text={description} />
              </span>
            )}
          </span>
          {i < LAST_KEY && (
            <span className="key" aria-hidden="true">
              {i + 1}
            </span>
          )}
        </label>
      ))}
    </div>
  );
}

interface OwnAnswerProps {
  readonly question: AskQuestion;
  readonly text: string;
  readonly onText: (text: string) => void;
}

function OwnAnswer({ question, text, onText }: OwnAnswerProps): ReactNode {
  return (
    <input
      type={question.secret === true ? "password" : "text"}
      className="agent-answer-text"
      aria-label={`Your own answer: ${question.question.slice(0, ANSWER_CHARS)}`}
      placeholder={question.options.length === 0 ? "Your answer" : "Your own answer"}
      autoComplete="off"
      maxLength={ANSWER_CHARS}
      value={text}
      onChange={(event) => onText(event.currentTarget.value)}
    />
  );
}

/** A note on the choice, and skipping one of several questions. */
function Extras({ question, said, isOnly, onChange }: Omit<ChoiceProps, "hasKeys">): ReactNode {
  const [isNoting, setNoting] = useState(said.notes !== undefined);
  const isSkipped = said.skipped === true;
  const hasNotes = question.options.length > 0 && question.secret !== true && said.chosen.length > 0;
  return (
    <div className="agent-question-extras">
      {isNoting && hasNotes ? (
        <input
          type="text"
          className="agent-answer-text"
          // biome-ignore lint/a11y/noAutofocus: it was opened to write into it
          autoFocus={said.notes === undefined}
          aria-label={`Note: ${question.question.slice(0, ANSWER_CHARS)}`}
          placeholder="Note for the agent"
          maxLength={ANSWER_CHARS}
          value={said.notes ?? ""}
          onChange={(event) => onChange({ ...said, notes: event.currentTarget.value })}
        />
      ) : (
        hasNotes && (
          <button type="button" className="quiet-button" onClick={() => setNoting(true)}>
            <Icon name="edit" /> Add a note
          </button>
        )
      )}
      {!isOnly && (
        <button
          type="button"
          className="quiet-button"
          aria-pressed={isSkipped}
          onClick={() => onChange(isSkipped ? NOTHING : { chosen: [], skipped: true })}
        >
          {isSkipped ? "Skipped. Undo" : "Skip"}
        </button>
      )}
    </div>
  );
}
