/**
 * The fields of a form that an agent or one of its servers asks for, read from a JSON schema, and what was written into them as the
 * values that the schema wants. The same for the page and the terminal.
 */
import { type Json, jsonText, ownValue } from "../model/json.ts";
import { ASK_BOUNDS } from "./limits.ts";

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly description?: string;
  readonly isRequired: boolean;
  readonly type: "text" | "number" | "boolean" | "choice" | "choices";
  /** The browser's input type for a text. */
  readonly input?: "email" | "url" | "date" | "datetime-local";
  readonly isInteger?: boolean;
  readonly min?: number;
  readonly max?: number;
  readonly options?: readonly { readonly value: string; readonly label: string }[];
  readonly initial: string | boolean | readonly string[];
}

export type FormInput = { readonly [name: string]: string | boolean | readonly string[] };

const INPUTS: Readonly<Record<string, NonNullable<FormField["input"]>>> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
};

export function formFields(schema: Json | undefined): readonly FormField[] {
  const { properties, required } = objectOf(schema);
  const needed = new Set(Array.isArray(required) ? required : []);
  let left: number = ASK_BOUNDS.formOptions;
  const shown = Object.entries(objectOf(properties)).slice(0, ASK_BOUNDS.fields);
  return shown.map(([name, value]) => {
    const field = fieldOf(name, objectOf(value), needed.has(name), left);
    left -= field.options?.length ?? 0;
    return field;
  });
}

/** How many fields and options of a form are not shown, and so cannot be filled in or chosen. */
export function leftOfForm(schema: Json | undefined): { readonly fields: number; readonly options: number } {
  const all = Object.values(objectOf(objectOf(schema)["properties"]));
  const count = (value: Json) => {
    const asked = objectOf(value);
    return listed(asked["type"] === "array" ? objectOf(asked["items"]) : asked).length;
  };
  const shown = formFields(schema);
  const options = all.slice(0, shown.length).reduce<number>((sum, value) => sum + count(value), 0);
  return {
    fields: all.length - shown.length,
    options: options - shown.reduce((sum, field) => sum + (field.options?.length ?? 0), 0),
  };
}

function fieldOf(name: string, schema: Fields, isRequired: boolean, most: number): FormField {
  const { title, description, type, format, minimum, maximum } = schema;
  const base = {
    ...{ name, isRequired, label: typeof title === "string" && title !== "" ? title : name },
    ...(typeof description === "string" ? { description } : {}),
  };
  const initial = schema["default"];
  if (type === "boolean") return { ...base, type: "boolean", initial: initial === true };
  if (type === "array") {
    const options = optionsOf(objectOf(schema["items"]), most);
    const offered = new Set(options.map(({ value }) => value));
    // Nothing is chosen that is not shown.
    const chosen = Array.isArray(initial) ? initial.map(jsonText).filter((each) => offered.has(each)) : [];
    return { ...base, type: "choices", options, initial: chosen };
  }
  const given = typeof initial === "string" || typeof initial === "number" ? String(initial) : "";
  const text = given.length > ASK_BOUNDS.initialChars ? "" : given;
  const options = optionsOf(schema, most);
  const isOffered = options.some(({ value }) => value === text);
  if (listed(schema).length > 0) return { ...base, type: "choice", options, initial: isOffered ? text : "" };
  const bounds = {
    ...(typeof minimum === "number" ? { min: minimum } : {}),
    ...(typeof maximum === "number" ? { max: maximum } : {}),
  };
  if (type === "number" || type === "integer")
    return { ...base, type: "number", isInteger: type === "integer", ...bounds, initial: text };
  const input = typeof format === "string" ? INPUTS[format] : undefined;
  const lengths = {
    ...(typeof schema["minLength"] === "number" ? { min: schema["minLength"] } : {}),
    ...(typeof schema["maxLength"] === "number" ? { max: schema["maxLength"] } : {}),
  };
  return { ...base, type: "text", ...(input === undefined ? {} : { input }), ...lengths, initial: text };
}

/** `enum` with its names, or a list of constants with titles. */
function optionsOf(schema: Fields, most: number): readonly { value: string; label: string }[] {
  const { enumNames } = schema;
  const shown = listed(schema).slice(0, Math.min(most, ASK_BOUNDS.fieldOptions));
  if (Array.isArray(schema["enum"])) {
    const names = Array.isArray(enumNames) ? enumNames : [];
    return shown.map((value, i) => ({ value: jsonText(value), label: jsonText(names[i] ?? value) }));
  }
  return shown.flatMap((each) => {
    const { const: value, title } = objectOf(each as Json);
    return value === undefined ? [] : [{ value: jsonText(value), label: jsonText(title ?? value) }];
  });
}

function listed(schema: Fields): readonly Json[] {
  const list = schema["enum"] ?? schema["oneOf"] ?? schema["anyOf"];
  return Array.isArray(list) ? list : [];
}

/** The values for the agent, without optional fields left empty. */
export function formContent(
  fields: readonly FormField[],
  written: FormInput,
): { readonly [name: string]: Json } {
  const content: Record<string, Json> = {};
  for (const { name, type, initial, isRequired } of fields) {
    const value = ownValue(written, name) ?? initial;
    if (type === "number") {
      if (value !== "") content[name] = Number(value);
    } else if (Array.isArray(value)) {
      if (value.length > 0 || isRequired) content[name] = [...value];
    } else if (value !== "" || isRequired) content[name] = value as Json;
  }
  return content;
}

/** Why a form cannot be sent yet, by field. */
export function wrongFields(fields: readonly FormField[], written: FormInput): ReadonlyMap<string, string> {
  const wrong = new Map<string, string>();
  for (const field of fields) {
    const why = wrongWith(field, ownValue(written, field.name) ?? field.initial);
    if (why !== undefined) wrong.set(field.name, why);
  }
  return wrong;
}

function wrongWith(field: FormField, value: string | boolean | readonly string[]): string | undefined {
  const { type, isRequired, isInteger, min, max, input } = field;
  if (typeof value === "boolean") return undefined;
  if (value.length === 0) return isRequired ? "Required" : undefined;
  if (typeof value !== "string") return undefined;
  if (type === "number") {
    const number = Number(value);
    if (!Number.isFinite(number)) return "Enter a number";
    if (isInteger === true && !Number.isInteger(number)) return "Enter a whole number";
    if (min !== undefined && number < min) return `At least ${min}`;
    return max !== undefined && number > max ? `At most ${max}` : undefined;
  }
  if (type !== "text") return undefined;
  if (min !== undefined && value.length < min) return `At least ${min} characters`;
  if (max !== undefined && value.length > max) return `At most ${max} characters`;
  if (input === "email" && !/^[^\s@]+@[^\s@]+$/.test(value)) return "Enter an email address";
  return input === "url" && !isWholeAddress(value)
    ? "Enter a whole address, such as https://example.com"
    : undefined;
}

function isWholeAddress(text: string): boolean {
  try {
    return new URL(text).href !== "";
  } catch {
    return false;
  }
}

type Fields = { readonly [key: string]: Json };

function objectOf(value: Json | undefined): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}
