/**
 * Questions of an agent: options as radio buttons or checkboxes, own words where it takes some, notes, and one button that answers
 * all of them. A number key chooses the option of that number in the question that has the focus.
 */
import { type Ask, type AskAnswer, type AskQuestion, Text } from "@blockyard/kernel";
import { type KeyboardEvent, type ReactNode, useState } from "react";
import { Markdown } from "../markdown/markdown.tsx";

type Said = NonNullable<AskAnswer["questions"]>;

/** Answers that are being chosen, by request: a row that leaves the screen and comes back is as it was. */
const chosenSoFar = new Map<string, Said>();

interface QuestionsProps {
  readonly ask: Ask;
  readonly isReady: boolean;
  readonly onAnswer: (answer: AskAnswer) => void;
  readonly onDecline: () => void;
}

export function Questions({ ask, isReady, onAnswer, onDecline }: QuestionsProps): ReactNode {
  const [said, setSaid] = useState<Said>(chosenSoFar.get(ask.id) ?? {});
  const change = (id: string, next: Said[string]) => {
    const all = { ...said, [id]: next };
    chosenSoFar.set(ask.id, all);
    setSaid(all);
  };
  const questions = ask.questions ?? [];
  const isAnswered = questions.some(({ id }) => isSaid(said[id]));
  return (
    <form
      className="agent-questions"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isReady || !isAnswered) return;
        chosenSoFar.delete(ask.id);
        onAnswer({ questions: Object.fromEntries(Object.entries(said).filter(([, each]) => isSaid(each))) });
      }}
    >
      {questions.map((question) => (
        <Choice
          key={question.id}
          question={question}
          said={said[question.id] ?? { chosen: [] }}
          onChange={(next) => change(question.id, next)}
        />
      ))}
      <div className="agent-ask-buttons">
        <button type="submit" className="primary" disabled={!isReady || !isAnswered}>
          Answer
        </button>
        <button type="button" disabled={!isReady} onClick={onDecline}>
          Decline
        </button>
      </div>
    </form>
  );
}

function isSaid(said: Said[string] | undefined): boolean {
  return said !== undefined && (said.chosen.length > 0 || (said.text ?? "").trim() !== "");
}

interface ChoiceProps {
  readonly question: AskQuestion;
  readonly said: Said[string];
  readonly onChange: (said: Said[string]) => void;
}

function Choice({ question, said, onChange }: ChoiceProps): ReactNode {
  const { options, multiple } = question;
  const toggle = (label: string) => {
    if (!multiple) return onChange({ ...said, chosen: [label] });
    const isOn = said.chosen.includes(label);
    const chosen = options
      .map((option) => option.label)
      .filter((each) => (each === label ? !isOn : said.chosen.includes(each)));
    onChange({ ...said, chosen });
  };
  const onKey = (event: KeyboardEvent) => {
    const option = options[Number(event.key) - 1];
    const isTyping = event.target instanceof HTMLInputElement && event.target.type === "text";
    if (option === undefined || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    toggle(option.label);
  };
  const preview = options.find(({ label }) => said.chosen.includes(label))?.preview;
  return (
    <fieldset className="agent-question" onKeyDown={onKey}>
      <legend>
        {question.header && <span className="dim">{question.header} · </span>}
        {question.question}
      </legend>
      {options.map(({ label, description }, i) => (
        <label key={label} className="agent-option">
          <input
            type={multiple ? "checkbox" : "radio"}
            name={question.id}
            checked={said.chosen.includes(label)}
            onChange={() => toggle(label)}
          />
          <span className="dim">{i + 1}</span> <span>{label}</span>
          {description && <span className="dim"> {description}</span>}
        </label>
      ))}
      {preview && <Markdown text={Text.of(preview)} isGrowing={false} isAppendOnly={false} />}
      {(question.freeText === true || options.length === 0) && (
        <input
          type={question.secret === true ? "password" : "text"}
          className="agent-answer-text"
          aria-label={`Your own answer: ${question.question}`}
          placeholder={options.length === 0 ? "Your answer" : "Your own answer"}
          maxLength={10_000}
          value={said.text ?? ""}
          onChange={(event) => {
            const text = event.currentTarget.value;
            // Own words stand in place of the one option, and beside several.
            const chosen = multiple || text === "" ? said.chosen : [];
            onChange({ ...said, chosen, text });
          }}
        />
      )}
    </fieldset>
  );
}
