/**
 * A form that an agent, or a server of its, asks for: one field for each value, with what is wrong said beside it. Or a page
 * elsewhere, which the reader opens and then says so.
 */
import {
  type Ask,
  exactName,
  type FormField,
  type FormInput,
  formContent,
  formFields,
  type JsonObject,
  ownValue,
  safeLink,
  wrongFields,
} from "@blockyard/kernel";
import { type ReactNode, useId, useMemo, useState } from "react";
import { Choice } from "../ui/choice.tsx";
import { Icon } from "../ui/icons.tsx";
import type { GiveAnswer } from "./ask-answer.ts";
import { ExactWords } from "./exact-words.tsx";
import { ANSWER_CHARS, MENU_NAME_CHARS } from "./limits.ts";

/** Forms being filled in, by request: a row that leaves the screen and comes back keeps its state. */
const writtenSoFar = new Map<string, FormInput>();

interface ElicitedFormProps {
  readonly ask: Ask;
  /** Under which name what is being written is remembered. */
  readonly draft: string;
  readonly isReady: boolean;
  readonly onAnswer: GiveAnswer;
}

export function ElicitedForm({ ask, draft, isReady, onAnswer }: ElicitedFormProps): ReactNode {
  const { message, schema, url } = ask.form ?? { message: "" };
  const fields = useMemo(() => formFields(schema), [schema]);
  const [written, setWritten] = useState<FormInput>(writtenSoFar.get(draft) ?? {});
  const [isTried, setTried] = useState(false);
  const wrong = wrongFields(fields, written);
  const change = (name: string, value: FormInput[string]) => {
    const next = { ...written, [name]: value };
    writtenSoFar.set(draft, next);
    setWritten(next);
  };
  return (
    <form
      className="agent-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (!isReady || wrong.size > 0) return;
        writtenSoFar.delete(draft);
        onAnswer(
          true,
          "",
          url === undefined ? { content: formContent(fields, written) as JsonObject } : undefined,
        );
      }}
    >
      {message !== "" && (
        <p>
          <ExactWords text={message} />
        </p>
      )}
      {url !== undefined && <PageLink url={url} />}
      {fields.map((field) => (
        <Field
          key={field.name}
          field={field}
          value={ownValue(written, field.name) ?? field.initial}
          wrong={isTried ? wrong.get(field.name) : undefined}
          onChange={(value) => change(field.name, value)}
        />
      ))}
      <div className="agent-ask-buttons">
        <button type="submit" className="primary" disabled={!isReady}>
          {url === undefined ? "Submit" : "Done"}
        </button>
        <button type="button" data-deny disabled={!isReady} onClick={() => onAnswer(false)}>
          Decline
        </button>
      </div>
    </form>
  );
}

function PageLink({ url }: { url: string }): ReactNode {
  const href = safeLink(url);
  return (
    <p>
      {href === undefined ? (
        <code>
          <ExactWords text={url} isName />
        </code>
      ) : (
        <a href={href} target="_blank" rel="noopener noreferrer">
          <Icon name="link" /> <ExactWords text={url} isName />
        </a>
      )}
    </p>
  );
}

interface FieldProps {
  readonly field: FormField;
  readonly value: FormInput[string];
  readonly wrong: string | undefined;
  readonly onChange: (value: FormInput[string]) => void;
}

/** By how its value is given: a box to tick, options that are all shown, or something to write or choose in one line. */
function Field(props: FieldProps): ReactNode {
  const { field, value, wrong, onChange } = props;
  const id = useId();
  const { label, description, type, options = [] } = field;
  const about = wrong === undefined && description === undefined ? undefined : `${id}-about`;
  const note = (
    <>
      {(wrong ?? description) !== undefined && (
        <span id={about} className={wrong === undefined ? "dim" : "bad"}>
          <ExactWords text={wrong ?? description ?? ""} />
        </span>
      )}
    </>
  );
  if (type === "boolean")
    return (
      <label className="agent-option">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
        <span>
          <ExactWords text={label} isName />
        </span>{" "}
        {note}
      </label>
    );
  const parts = { ...props, id, about, note };
  const isShort = type === "choice" && options.length <= 6;
  if (type === "choices" || isShort) return <OptionsField {...parts} />;
  return type === "choice" ? <MenuField {...parts} /> : <LineField {...parts} />;
}

interface PartProps extends FieldProps {
  readonly id: string;
  readonly about: string | undefined;
  readonly note: ReactNode;
}

function Label({ field: { label, isRequired } }: Pick<FieldProps, "field">): ReactNode {
  return (
    <>
      <ExactWords text={label} isName />
      {isRequired ? " *" : ""}
    </>
  );
}

function OptionsField({ field, value, onChange, id, about, note }: PartProps): ReactNode {
  const { type, options = [] } = field;
  const chosen = Array.isArray(value) ? value : [value];
  return (
    <fieldset className="agent-question" aria-describedby={about}>
      <legend>
        <Label field={field} />
      </legend>
      {options.map((option) => (
        <label key={option.value} className="agent-option">
          <input
            type={type === "choices" ? "checkbox" : "radio"}
            name={id}
            checked={chosen.includes(option.value)}
            onChange={() =>
              onChange(type === "choice" ? option.value : toggled(chosen as string[], option.value))
            }
          />
          <span>
            <ExactWords text={option.label} isName />
          </span>
        </label>
      ))}
      {note}
    </fieldset>
  );
}

/** In a menu, a name has one line. */
function shortName(name: string): string {
  const exact = exactName(name.slice(0, MENU_NAME_CHARS));
  return name.length > MENU_NAME_CHARS ? `${exact}…` : exact;
}

/** One of many: a menu. */
function MenuField({ field, value, wrong, onChange, about, note }: PartProps): ReactNode {
  const { label, isRequired, options = [] } = field;
  const choices = options.map((option) => ({ value: option.value, name: shortName(option.label) }));
  return (
    <div className={wrong === undefined ? "agent-field" : "agent-field wrong"}>
      <span className="agent-field-name" aria-hidden="true">
        <Label field={field} />
      </span>
      <Choice
        label={shortName(label)}
        value={String(value)}
        options={isRequired || value === "" ? choices : [{ value: "", name: "None" }, ...choices]}
        placeholder="Choose…"
        describedBy={about}
        onChange={onChange}
      />
      {note}
    </div>
  );
}

function LineField({ field, value, wrong, onChange, id, about, note }: PartProps): ReactNode {
  const { isRequired, type } = field;
  return (
    <div className="agent-field">
      <label htmlFor={id}>
        <Label field={field} />
      </label>
      <input
        id={id}
        className="agent-answer-text"
        aria-describedby={about}
        aria-invalid={wrong !== undefined}
        aria-required={isRequired}
        value={String(value)}
        type={field.input ?? "text"}
        inputMode={type === "number" ? "decimal" : undefined}
        maxLength={ANSWER_CHARS}
        onChange={(event) => onChange(event.target.value)}
      />
      {note}
    </div>
  );
}

function toggled(chosen: readonly string[], value: string): readonly string[] {
  return chosen.includes(value) ? chosen.filter((each) => each !== value) : [...chosen, value];
}
