/** Text into HTML. The only two ways by which anything that an agent or a person wrote gets into an exported page. */

/** HTML from this folder; a plain string is never treated as such. */
export interface Html {
  readonly html: string;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

export function escapeText(text: string): string {
  return withoutControls(text.replace(/[&<>"']/g, (character) => ESCAPES[character] as string));
}

/** What HTML may not hold, and a terminal that shows a file obeys, made visible. */
export function withoutControls(text: string): string {
  return text.replace(CONTROLS, "\ufffd");
}

/** A template whose strings are HTML and whose values are text, except those that are HTML already. */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let out = strings[0] ?? "";
  values.forEach((value, i) => {
    out += shown(value) + (strings[i + 1] ?? "");
  });
  return { html: out };
}

type Value = string | number | undefined | false | Html | readonly Html[];

export const NOTHING: Html = { html: "" };

export function join(parts: readonly Html[], between = ""): Html {
  return { html: parts.map((part) => part.html).join(between) };
}

function shown(value: Value): string {
  if (value === undefined || value === false) return "";
  if (typeof value === "string") return escapeText(value);
  if (typeof value === "number") return String(value);
  return "html" in value ? value.html : join(value).html;
}

/** What HTML may not hold, except tab and line ends. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
