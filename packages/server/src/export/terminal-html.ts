/**
 * Terminal output as HTML: the lines and runs that the page shows, with weights and the sixteen colours as classes. Other
 * colours are shown in the text's own.
 */

import { plural } from "@blockyard/kernel/plain";
import { readTerminal, type TerminalRun, type TerminalStyle } from "@blockyard/kernel/presentation";
import { type Html, html, join } from "../system/escape.ts";
import { TERMINAL_CHARS } from "./limits.ts";

/** The classes of style.ts. */
const CLASSES: readonly (readonly [keyof TerminalStyle, string])[] = [
  ["bold", "a-bold"],
  ["dim", "a-dim"],
  ["italic", "a-italic"],
  ["underline", "a-under"],
];

export function terminalHtml(output: string): Html {
  const text = output.length > TERMINAL_CHARS ? output.slice(0, TERMINAL_CHARS) : output;
  const cut = output.length - text.length;
  const lines = readTerminal(text).map((line) => join(line.map(styled)));
  const parts = lines.flatMap((line, i) => (i === 0 ? [line] : [html`\n`, line]));
  if (text.endsWith("\n")) parts.push(html`\n`);
  if (cut > 0) parts.push(html`<span class="dim">… ${plural(cut, "more character")}</span>`);
  return join(parts);
}

function styled({ text, style }: TerminalRun): Html {
  const names = CLASSES.filter(([what]) => style[what] === true).map(([, name]) => name);
  // The bright ones look like the others.
  if (typeof style.fg === "number" && style.fg < 16) names.push(`a-${style.fg % 8}`);
  return names.length === 0 ? html`${text}` : html`<span class="${names.join(" ")}">${text}</span>`;
}
