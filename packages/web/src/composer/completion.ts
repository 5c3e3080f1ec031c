/**
 * What the field completes: a command after a slash at the beginning of the prompt, or a file after an @ at the
 * beginning of a word. Pure: from text and caret to the query, and from the choice to the new text.
 */
import { QUERY_CHARS } from "./limits.ts";

export interface Trigger {
  readonly kind: "command" | "mention";
  /** What was typed behind the sign. */
  readonly query: string;
  /** Where the sign stands, and where what was typed ends. */
  readonly from: number;
  readonly to: number;
}

export function triggerAt(text: string, caret: number): Trigger | undefined {
  const before = text.slice(Math.max(0, caret - QUERY_CHARS), caret);
  const at = caret - before.length;
  const command = /^\/([^\s/]*)$/.exec(text.slice(0, caret));
  if (command && caret <= QUERY_CHARS)
    return { kind: "command", query: command[1] ?? "", from: 0, to: caret };
  const mention = /(^|\s)@([^\s@]*)$/.exec(before);
  if (!mention) return undefined;
  const from = at + mention.index + (mention[1] ?? "").length;
  return { kind: "mention", query: mention[2] ?? "", from, to: caret };
}

export interface Completed {
  readonly text: string;
  readonly caret: number;
}

/** What was chosen in place of what was typed, with a space behind it, unless one follows. */
export function completed(text: string, { from, to }: Trigger, chosen: string): Completed {
  const rest = text.slice(to);
  const space = /^\s/.test(rest) ? "" : " ";
  const before = `${text.slice(0, from)}${chosen}`;
  return { text: `${before}${space}${rest}`, caret: before.length + 1 };
}

/** Without what was typed, where what was chosen is no text. */
export function withoutTrigger(text: string, { from, to }: Trigger): Completed {
  return { text: text.slice(0, from) + text.slice(to), caret: from };
}

/** A path with spaces is quoted, as agents read it. */
export function mentionOf(path: string): string {
  return /\s/.test(path) ? `@"${path}"` : `@${path}`;
}
