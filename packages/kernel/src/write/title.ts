/**
 * Titles of conversations that nobody has named: the first sentence of what was asked, cut at a word. Who gave a title is
 * remembered (`titled` in the metadata), so that a provider's own summary takes the place of a prompt's beginning, and nothing
 * that of a person's words.
 */

import type { Conversation, ConversationPatch } from "../model/conversation.ts";
import { limits } from "../model/limits.ts";
import { cleanText } from "../text/sanitize.ts";

/** A shorter one ("Hi.", "Please help!") says little: what follows comes along. */
const SENTENCE = /^.{12,}?(?:[.!?](?=\s|$)|[。！？])/u;

/** Where a title comes from that no person gave. */
type TitleSource = "prompt" | "provider";

export function titleFrom(text: string): string {
  const line =
    text
      .slice(0, limits.derivedTitleTextChars)
      .split("\n")
      .find((each) => /[\p{L}\p{N}]/u.test(each) && !/^\s*(```|<\/?[\w-]+[^>]*>\s*$)/.test(each)) ?? "";
  const plain = cleanText(line)
    .replace(/^[\s#>*_`-]+/, "")
    .replace(/[*`]+/g, "")
    .replace(/\s+/g, " ")
    .trim();
  const sentence = SENTENCE.exec(plain)?.[0] ?? plain;
  return cutAtWord(sentence.replace(/[.。]$/u, ""), limits.derivedTitleChars);
}

function cutAtWord(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const start = text.slice(0, chars - 1).toWellFormed();
  const word = start.lastIndexOf(" ");
  // A text without spaces, or with a very long word, is cut where it is full.
  return `${(word > chars / 2 ? start.slice(0, word) : start).replace(/[\s,;:–-]+$/u, "")}…`;
}

/** The patch that gives a conversation a title which no person gave; undefined where it has a better one, or this one already. */
export function titlePatch(
  { title: before, metadata }: Pick<Conversation, "title" | "metadata">,
  title: string,
  source: TitleSource,
): Pick<ConversationPatch, "title" | "metadata"> | undefined {
  if (title === "" || title === before) return undefined;
  const { titled } = metadata;
  const mayReplace =
    before === "" || (source === "provider" && (titled === "prompt" || titled === "provider"));
  return mayReplace ? { title, metadata: { titled: source } } : undefined;
}

/** Whether a title is nothing but the beginning of a prompt: whoever gave it did not think of one. */
export function isFromPrompt(title: string, prompt: string): boolean {
  const plain = (text: string) => text.replace(/\s+/g, " ").trim();
  return plain(prompt).startsWith(plain(title).replace(/…$/, ""));
}
