/**
 * Terminal output as lines of coloured runs. Colours and weights only (SGR): everything else that a terminal would obey
 * is either played out inside its line (carriage return, backspace, erase, columns) or dropped (titles, links, clipboard,
 * cursor to other lines, device strings, C0 and C1 controls). Nothing in the text can reach anything but its own line.
 */
import { TERMINAL_BLANKS, TERMINAL_COLUMNS } from "./limits.ts";

export interface TerminalStyle {
  /** Palette index 0–255, or an "r, g, b" triple. */
  readonly fg?: number | string;
  readonly bg?: number | string;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly strike?: true;
  readonly inverse?: true;
}

export interface TerminalRun {
  readonly text: string;
  readonly style: TerminalStyle;
}

export type TerminalLine = readonly TerminalRun[];

const PLAIN: TerminalStyle = {};

interface Blanks {
  left: number;
}

/** The lines of an output. A final newline ends the last line and does not begin another. */
export function readTerminal(output: string): readonly TerminalLine[] {
  const lines: TerminalLine[] = [];
  const blanks = { left: TERMINAL_BLANKS };
  let style = PLAIN;
  const rows = output.split("\n");
  if (rows.at(-1) === "") rows.pop();
  for (const row of rows) {
    if (!CONTROL.test(row)) {
      lines.push(row === "" ? [] : [{ text: row, style }]);
      continue;
    }
    const screen = new Line(style, blanks);
    screen.write(row);
    style = screen.style;
    lines.push(screen.runs());
  }
  return lines;
}

/** The same without colours, for copying and searching. */
export function plainTerminal(output: string): string {
  if (!CONTROL.test(output)) return output;
  return readTerminal(output)
    .map((line) => line.map((run) => run.text).join(""))
    .join("\n");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this file is about
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;
/**
 * One escape sequence at the front: CSI (parameters, final), a string (OSC, DCS, APC, PM, SOS) up to its end or the end
 * of the line, or a short escape.
 */
const SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: as above
  /^(?:(?:\u001b\[|\u009b)([0-?]*)[ -/]*([@-~])|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c|$)|\u001b[ -/]*[0-~]?)/;

class Line {
  style: TerminalStyle;
  readonly #characters: string[] = [];
  readonly #styles: TerminalStyle[] = [];
  readonly #blanks: Blanks;
  #column = 0;

  constructor(style: TerminalStyle, blanks: Blanks) {
    this.style = style;
    this.#blanks = blanks;
  }

  write(row: string): void {
    let i = 0;
    while (i < row.length) {
      const code = row.charCodeAt(i);
      const isEscape = code === 0x1b || (code >= 0x90 && code <= 0x9f);
      if (isEscape) {
        const match = SEQUENCE.exec(row.slice(i, i + 4_096));
        if (match?.[2] !== undefined) this.#control(match[1] as string, match[2]);
        i += Math.max(1, match?.[0].length ?? 1);
        continue;
      }
      const character = String.fromCodePoint(row.codePointAt(i) as number);
      this.#put(character, code);
      i += character.length;
    }
  }

  runs(): TerminalLine {
    const runs: TerminalRun[] = [];
    let from = 0;
    for (let i = 1; i <= this.#characters.length; i++) {
      if (i < this.#characters.length && this.#styles[i] === this.#styles[from]) continue;
      const text = this.#characters.slice(from, i).join("");
      if (text !== "") runs.push({ text, style: this.#styles[from] ?? PLAIN });
      from = i;
    }
    return runs;
  }

  #put(character: string, code: number): void {
    if (code === 0x0d) this.#column = 0;
    else if (code === 0x08) this.#column = Math.max(0, this.#column - 1);
    else if (code === 0x09 || (code >= 0x20 && code !== 0x7f && !(code >= 0x80 && code <= 0x9f))) {
      this.#fill();
      this.#characters[this.#column] = character;
      this.#styles[this.#column] = this.style;
      this.#column = Math.min(this.#column + 1, 1_000_000);
    }
  }

  /** Pads with blanks up to the column; if too few are left, the column moves to the end of the line. */
  #fill(): void {
    const missing = this.#column - this.#characters.length;
    if (missing <= 0) return;
    if (!this.#take(missing)) this.#column = this.#characters.length;
    while (this.#characters.length < this.#column) {
      this.#characters.push(" ");
      this.#styles.push(PLAIN);
    }
  }

  #control(parameters: string, final: string): void {
    const first = Number.parseInt(parameters, 10);
    const count = Number.isNaN(first) ? 1 : Math.min(first, TERMINAL_COLUMNS);
    if (final === "m") this.style = withSgr(this.style, parameters);
    else if (final === "C") this.#column = Math.min(this.#column + Math.max(1, count), TERMINAL_COLUMNS);
    else if (final === "D") this.#column = Math.max(0, this.#column - Math.max(1, count));
    else if (final === "G") this.#column = Math.max(0, count - 1);
    else if (final === "K") this.#erase(Number.isNaN(first) ? 0 : first);
  }

  #erase(mode: number): void {
    if (mode === 0) {
      this.#characters.length = Math.min(this.#characters.length, this.#column);
      this.#styles.length = this.#characters.length;
      return;
    }
    const end = mode === 2 ? this.#characters.length : Math.min(this.#column + 1, this.#characters.length);
    if (!this.#take(end)) return;
    for (let i = 0; i < end; i++) {
      this.#characters[i] = " ";
      this.#styles[i] = PLAIN;
    }
  }

  #take(cells: number): boolean {
    if (cells > this.#blanks.left) return false;
    this.#blanks.left -= cells;
    return true;
  }
}

/** Select graphic rendition: the codes of one `ESC [ … m`, one after the other. */
function withSgr(style: TerminalStyle, parameters: string): TerminalStyle {
  const codes =
    parameters === "" ? [0] : parameters.split(/[;:]/).map((code) => Number.parseInt(code, 10) || 0);
  let next: TerminalStyle = style;
  for (let i = 0; i < codes.length; i++) {
    const code = codes[i] as number;
    if (code === 38 || code === 48) {
      const [color, used] = extended(codes, i + 1);
      i += used;
      if (color !== undefined) next = { ...next, [code === 38 ? "fg" : "bg"]: color };
      continue;
    }
    next = withCode(next, code);
  }
  return Object.keys(next).length === 0 ? PLAIN : next;
}

function withCode(style: TerminalStyle, code: number): TerminalStyle {
  if (code >= 30 && code <= 37) return { ...style, fg: code - 30 };
  if (code >= 90 && code <= 97) return { ...style, fg: code - 82 };
  if (code >= 40 && code <= 47) return { ...style, bg: code - 40 };
  if (code >= 100 && code <= 107) return { ...style, bg: code - 92 };
  switch (code) {
    case 0:
      return PLAIN;
    case 1:
      return { ...style, bold: true };
    case 2:
      return { ...style, dim: true };
    case 3:
      return { ...style, italic: true };
    case 4:
      return { ...style, underline: true };
    case 7:
      return { ...style, inverse: true };
    case 9:
      return { ...style, strike: true };
    case 22:
      return without(style, "bold", "dim");
    case 23:
      return without(style, "italic");
    case 24:
      return without(style, "underline");
    case 27:
      return without(style, "inverse");
    case 29:
      return without(style, "strike");
    case 39:
      return without(style, "fg");
    case 49:
      return without(style, "bg");
    default:
      return style;
  }
}

function extended(codes: readonly number[], at: number): [number | string | undefined, number] {
  if (codes[at] === 5) {
    const index = codes[at + 1];
    return [index !== undefined && index >= 0 && index < 256 ? index : undefined, 2];
  }
  if (codes[at] !== 2) return [undefined, 0];
  const [r, g, b] = [codes[at + 1], codes[at + 2], codes[at + 3]];
  const isColor = [r, g, b].every((part) => part !== undefined && part >= 0 && part < 256);
  return [isColor ? `${r}, ${g}, ${b}` : undefined, 4];
}

function without(style: TerminalStyle, ...names: (keyof TerminalStyle)[]): TerminalStyle {
  return Object.fromEntries(
    Object.entries(style).filter(([name]) => !names.includes(name as keyof TerminalStyle)),
  );
}

/** A palette colour above the first 16 as "r, g, b": the cube and the greys. */
export function paletteColor(index: number): string {
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return `${grey}, ${grey}, ${grey}`;
  }
  const cube = index - 16;
  const level = (step: number) => (step === 0 ? 0 : 55 + step * 40);
  return [Math.floor(cube / 36), Math.floor(cube / 6) % 6, cube % 6].map(level).join(", ");
}
