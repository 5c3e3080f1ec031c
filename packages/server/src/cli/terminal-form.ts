/**
 * A form of an agent, or of a server of its, in a terminal: one field after the other. Numbers choose options, an empty line leaves a
 * field as it is.
 */

import {
  type Ask,
  type AskAnswer,
  type FormField,
  type FormInput,
  formContent,
  formFields,
  type JsonObject,
  wrongFields,
} from "@blockyard/kernel";
import { visible } from "../processes/visible.ts";
import { shortWords } from "./short-words.ts";

type Value = FormInput[string];

/** Its subject. */
export function formText({ form }: Ask): string {
  return [form?.message ?? "", form?.url ?? ""]
    .filter((line) => line !== "")
    .map(visible)
    .join("\n");
}

export function fieldText(field: FormField): string {
  const { label, description, type, options = [], isRequired, initial } = field;
  const rows = options.map((option, i) => `  ${i + 1}  ${shortWords(visible(option.label))}`);
  const usual = typeof initial === "boolean" ? "" : visible([initial].flat().join(", "));
  const hints = [HOW[type], usual === "" ? undefined : `empty for ${usual}`].filter(
    (hint) => hint !== undefined,
  );
  const how = hints.length === 0 ? "" : ` (${hints.join(", ")})`;
  const about = description === undefined ? "" : `  ${shortWords(visible(description))}`;
  return [`${shortWords(visible(label))}${isRequired ? " *" : ""}${how}${about}`, ...rows].join("\n");
}

const HOW: Readonly<Record<FormField["type"], string | undefined>> = {
  ...{ text: undefined, number: undefined, boolean: "y or n" },
  ...{ choice: "a number", choices: "numbers, such as 1,3" },
};

/** The value that a line gives a field; an object says why it gives none. */
export function valueIn(field: FormField, line: string): Value | { readonly wrong: string } {
  const { type, options = [], initial } = field;
  const said = line.trim();
  if (said === "") return initial;
  if (type === "boolean")
    return /^y(es)?$/i.test(said) || (/^no?$/i.test(said) ? false : { wrong: "Type y or n." });
  if (type !== "choice" && type !== "choices") return said;
  const numbers = /^\d+(\s*,\s*\d+)*$/.test(said) ? said.split(",").map(Number) : [];
  const values = numbers.flatMap((number) => options[number - 1]?.value ?? []);
  if (numbers.length === 0 || values.length < numbers.length)
    return { wrong: `Type a number from 1 to ${options.length}.` };
  if (type === "choices") return [...new Set(values)];
  return values.length === 1 ? (values[0] as string) : { wrong: "Choose one." };
}

/** Asks for one field after the other. Undefined: the answer is no longer needed. */
export async function formAnswer(
  { form }: Ask,
  type: (text: string) => Promise<string | undefined>,
): Promise<AskAnswer | undefined> {
  if (form?.url !== undefined) return {};
  const fields = formFields(form?.schema);
  const written: Record<string, Value> = {};
  for (const field of fields) {
    for (let why = ""; ; ) {
      const line = await type(`${why}${fieldText(field)}\n> `);
      if (line === undefined) return undefined;
      const value = valueIn(field, line);
      const wrong =
        typeof value === "object" && "wrong" in value
          ? value.wrong
          : wrongFields([field], { [field.name]: value }).get(field.name);
      if (wrong === undefined) {
        written[field.name] = value as Value;
        break;
      }
      why = `${wrong}\n`;
    }
  }
  return { content: formContent(fields, written) as JsonObject };
}
