/**
 * What the field completes: a command after a slash at the beginning of the prompt, or a file after an @ at the
 * beginning of a word. Pure: from text and caret to the query, and from the choice to the new text.
 */
import { QUERY_CHARS } from "./limits.ts";

export interface Trigger {
  readonly kind: "command" | "mention";
  /** The text typed after the trigger character. */
  readonly query: string;
  /** The position of the trigger character, and the end of the typed text. */
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

/** The choice instead of the typed text, followed by a space, unless there is one. */
export function completed(text: string, { from, to }: Trigger, chosen: string): Completed {
  const rest = text.slice(to);
  const space = /^\s/.test(rest) ? "" : " ";
  const before = `${text.slice(0, from)}${chosen}`;
  return { text: `${before}${space}${rest}`, caret: before.length + 1 };
}

/** Without the typed text, if the choice is not text. */
export function withoutTrigger(text: string, { from, to }: Trigger): Completed {
  return { text: text.slice(0, from) + text.slice(to), caret: from };
}

/** A path with spaces is quoted, as agents read it. */
export function mentionOf(path: string): string {
  return /\s/.test(path) ? `@"${path}"` : `@${path}`;
}
