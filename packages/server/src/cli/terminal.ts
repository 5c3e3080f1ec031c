/**
 * The terminal: colours where somebody sees them, widths, and text that cannot harm it. What agents wrote may hold control
 * sequences that move the cursor, change the title or write to the clipboard; none of them gets out.
 */

import { printableJson } from "../system/printable-json.ts";

export interface Style {
  bold(text: string): string;
  dim(text: string): string;
  red(text: string): string;
  green(text: string): string;
  yellow(text: string): string;
  cyan(text: string): string;
}

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const;

/** Colours only on a terminal, and never against NO_COLOR. */
export function styleFor(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>> = process.env,
): Style {
  const isPlain = !stream.isTTY || (env["NO_COLOR"] ?? "") !== "" || env["TERM"] === "dumb";
  const paint = (code: number) => (text: string) =>
    isPlain || text === "" ? text : `\u001b[${code}m${text}\u001b[0m`;
  return {
    bold: paint(CODES.bold),
    dim: paint(CODES.dim),
    red: paint(CODES.red),
    green: paint(CODES.green),
    yellow: paint(CODES.yellow),
    cyan: paint(CODES.cyan),
  };
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not get out
const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Characters without a glyph, which can hide text, or carry it unseen. Not those that join and separate letters and
 * pictures (U+200C, U+200D, U+FE0E, U+FE0F): without these some languages, and many emoji, are displayed wrong.
 */
const UNSEEN = /\p{Default_Ignorable_Code_Point}/gu;
const JOINS = new Set(["\u200c", "\u200d", "\ufe0e", "\ufe0f"]);

const ESC = "\u001b";
/** CSI, OSC (ended by BEL or ST), and two-character sequences. */
const SEQUENCE = new RegExp(
  `${ESC}\\[[0-9;:?<=>]*[ -/]*[@-~]|${ESC}\\][^\u0007${ESC}]{0,4096}(?:\u0007|${ESC}\\\\)|${ESC}[ -/]*[0-~]`,
  "g",
);

/** Carriage returns that write over nothing. */
const LINE_END = /(?<!\r)\r+(?=\n|$)/g;

/**
 * Text that is safe to print: sequences removed, other control characters made visible. It is stricter than for output
 * (`plainTerminal`): names, commands and questions come here too, and nothing may hide a part of them.
 */
export function safeText(text: string): string {
  const plain = text.replace(LINE_END, "").replace(SEQUENCE, "").replace(CONTROLS, "\ufffd");
  return plain.replace(UNSEEN, (char) => (JOINS.has(char) ? char : "\ufffd"));
}

/** File content on its way to standard output: a terminal executes none of it. */
export async function printData(body: AsyncIterable<string | Uint8Array>): Promise<void> {
  if (!process.stdout.isTTY) for await (const piece of body) await print(piece);
  else {
    const decoder = new TextDecoder();
    const textOf = (piece: string | Uint8Array) =>
      typeof piece === "string" ? piece : decoder.decode(piece, { stream: true });
    for await (const piece of body) await print(safeText(textOf(piece)));
  }
}

/** The same for a program's output. */
export function safeOutput(text: string): string {
  return safeText(lastStates(text));
}

/** A carriage return inside a line overwrites the text before it; progress bars get their last state. */
function lastStates(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .split("\n")
    .map((line) => {
      const bare = line.endsWith("\r") ? line.slice(0, -1) : line;
      return bare.slice(bare.lastIndexOf("\r") + 1);
    })
    .join("\n");
}

export function oneLine(text: string, width: number): string {
  const line = safeText(text).replace(/\s+/g, " ").trim();
  return line.length <= width ? line : `${line.slice(0, Math.max(1, width - 1)).toWellFormed()}…`;
}

/**
 * Our own text, wrapped between words; further lines begin `hang` columns in. A word longer than a line is left to the
 * terminal, so that paths and links can be copied.
 */
export function wrapped(text: string, width: number, hang = 0): string {
  return text
    .split("\n")
    .flatMap((line) => {
      const rows: string[] = [];
      const words = line.trimStart().split(" ");
      let row = `${line.slice(0, line.length - line.trimStart().length)}${words.shift()}`;
      for (const word of words) {
        const longer = `${row} ${word}`;
        if (longer.length <= width) row = longer;
        else {
          rows.push(row);
          row = `${" ".repeat(hang)}${word}`;
        }
      }
      return [...rows, row];
    })
    .join("\n");
}

/** A time for people, by this machine's clock. */
export function localTime(at: number): string {
  const date = new Date(at);
  const two = (count: number) => String(count).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** The width of a terminal's line; elsewhere, nothing is wrapped. */
export function lineWidth(): number {
  return process.stdout.isTTY ? terminalWidth() : Number.POSITIVE_INFINITY;
}

export function terminalWidth(): number {
  return process.stdout.isTTY ? Math.max(40, process.stdout.columns ?? 80) : 100;
}

/** Writes, and waits while the reader is slow. A reader that has gone ends the output, not the program. */
export async function print(text: string | Uint8Array): Promise<void> {
  if (!process.stdout.writable) return;
  if (process.stdout.write(text)) return;
  await new Promise<void>((resolve) => {
    const go = () => {
      process.stdout.off("drain", go).off("close", go).off("error", go);
      resolve();
    };
    process.stdout.once("drain", go).once("close", go).once("error", go);
  });
}

export async function printJson(value: unknown): Promise<void> {
  await print(`${printableJson(value)}\n`);
}

/** Messages may contain names and text that others chose. */
export function printNote(text: string): void {
  process.stderr.write(`${safeText(text)}\n`);
}

/** A progress bar on a terminal; nothing if nobody would see it move. */
export class Progress {
  readonly #isShown = process.stderr.isTTY === true;
  readonly #total: number;
  #done = 0;
  #drawnAt = 0;

  constructor(total: number) {
    this.#total = total;
  }

  step(what: string): void {
    this.#done++;
    const now = performance.now();
    if (!this.#isShown || (now - this.#drawnAt < 80 && this.#done < this.#total)) return;
    this.#drawnAt = now;
    const share = this.#total === 0 ? 1 : this.#done / this.#total;
    const bar = "█".repeat(Math.round(share * 24)).padEnd(24, "░");
    const room = (process.stderr.columns ?? 80) - 42;
    process.stderr.write(
      `\r\u001b[K${bar} ${this.#done}/${this.#total} ${oneLine(what, Math.max(10, room))}`,
    );
  }

  /** Removes the bar, so that the next output is separate. */
  end(): void {
    if (this.#isShown) process.stderr.write("\r\u001b[K");
  }
}
