/**
 * The subject of a notice, shown before its text; none if the text begins with the same word. And whether a block is a
 * notice.
 */
import type { Role } from "../model/kind.ts";
import { NOTICE_CHARS, OPEN_NOTICE_CHARS } from "./limits.ts";

/** `notice` as its provider names it: "rate_limit". */
export function noticeName(notice: string | undefined, text: string): string | undefined {
  if (notice === undefined || notice === "") return undefined;
  const name = NAMES[notice] ?? notice.replaceAll("_", " ");
  const start = text.slice(0, name.length).toLowerCase();
  return start === name.toLowerCase() ? undefined : name;
}

/** Whether all of a notice is there at first: what a command of the agent's answers was asked for. */
export function isNoticeOpen(notice: string | undefined, text: string): boolean {
  return notice === "local_command" && text.includes("\n") && text.length <= OPEN_NOTICE_CHARS;
}

/** A notice in pieces: plain words, and code, whose marks are left out where an agent's command wrote them. */
export function noticePieces(
  notice: string | undefined,
  text: string,
): readonly { readonly isCode: boolean; readonly text: string }[] {
  if (notice !== "local_command") return [{ isCode: false, text }];
  return text
    .split(/`([^`\n]+)`/)
    .map((piece, i) => ({ isCode: i % 2 === 1, text: piece }))
    .filter((piece) => piece.text !== "");
}

/** Words for those whose name is only the protocol's. */
const NAMES: Readonly<Record<string, string>> = { elicitation: "form", elsewhere: "went on elsewhere" };

interface Noted {
  readonly role: Role;
  readonly chars: number;
  readonly newlines: number;
  readonly metadata: { readonly notice?: string | undefined };
}

/**
 * Whether a text is shown as the line of a notice. Markdown that a command of the agent returns, such as /context, is
 * rendered as Markdown.
 */
export function isNoticeLine({ role, chars, newlines, metadata: { notice } }: Noted, text: string): boolean {
  if (notice === "local_command" && newlines > 0 && /^#{1,6} /.test(text)) return false;
  return notice !== undefined || (role === "system" && chars < NOTICE_CHARS && newlines === 0);
}
