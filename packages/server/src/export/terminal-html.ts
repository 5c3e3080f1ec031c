/**
 * Terminal output as HTML: colours and weights become classes, a carriage return takes its line back, and every other
 * control sequence is left out. Linear in the text.
 */

import { type Html, html, join } from "../system/escape.ts";

const ESC = "\u001b";
/** CSI, OSC (ended by BEL or ST), and two-character sequences. */
const SEQUENCE = new RegExp(
  `${ESC}\\[([0-9;:?<=>]*)[ -/]*([@-~])|${ESC}\\][^\u0007${ESC}]{0,4096}(?:\u0007|${ESC}\\\\)|${ESC}[ -/]*[0-~]`,
  "g",
);

const MAX_CHARS = 2_000_000;

export function terminalHtml(output: string): Html {
  const text = output.length > MAX_CHARS ? output.slice(0, MAX_CHARS) : output;
  const cut = output.length - text.length;
  const parts: Html[] = [];
  let style = "";
  let from = 0;
  const plain = takenBack(text);
  for (const match of plain.matchAll(SEQUENCE)) {
    parts.push(styled(style, plain.slice(from, match.index)));
    from = match.index + match[0].length;
    if (match[2] === "m") style = afterSgr(style, match[1] ?? "");
  }
  parts.push(styled(style, plain.slice(from)));
  if (cut > 0) parts.push(html`<span class="dim">… ${cut} more characters</span>`);
  return join(parts);
}

/** Without control sequences, for Markdown and for searching. */
export function plainTerminal(output: string): string {
  return takenBack(output).replace(SEQUENCE, "");
}

/** A carriage return inside a line writes over what stood there; progress bars come to their last state. */
function takenBack(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => {
      const bare = line.endsWith("\r") ? line.slice(0, -1) : line;
      return bare.slice(bare.lastIndexOf("\r") + 1);
    })
    .join("\n");
}

function styled(style: string, text: string): Html {
  if (text === "") return html``;
  return style === "" ? html`${text}` : html`<span class="${style}">${text}</span>`;
}

/** Bold, dim, italic, underlined and the sixteen colours; other colours are shown in the text's own. */
function afterSgr(style: string, codes: string): string {
  let names = new Set(style === "" ? [] : style.split(" "));
  const numbers = codes === "" ? [0] : codes.split(/[;:]/).map(Number);
  for (let i = 0; i < numbers.length; i++) {
    const code = numbers[i] as number;
    if (code === 0) names = new Set();
    else if (code === 1) names.add("a-bold");
    else if (code === 2) names.add("a-dim");
    else if (code === 3) names.add("a-italic");
    else if (code === 4) names.add("a-under");
    else if (code === 22) names = without(names, /^a-(bold|dim)$/);
    else if (code === 39) names = without(names, /^a-\d/);
    else if (code === 38 || code === 48) i += numbers[i + 1] === 5 ? 2 : 4;
    else if (code >= 30 && code <= 37) names = without(names, /^a-\d/).add(`a-${code - 30}`);
    else if (code >= 90 && code <= 97) names = without(names, /^a-\d/).add(`a-${code - 90}`);
  }
  return [...names].join(" ");
}

function without(names: ReadonlySet<string>, pattern: RegExp): Set<string> {
  return new Set([...names].filter((name) => !pattern.test(name)));
}
