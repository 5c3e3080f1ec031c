/**
 * Titles for conversations without one: the first sentence of the prompt, cut at a word. `titled` in the metadata remembers the
 * source, so that a provider's own summary replaces a title made from a prompt, and nothing replaces a person's.
 */

import type { Conversation, ConversationPatch } from "../model/conversation.ts";
import { limits } from "../model/limits.ts";
import { cleanText } from "../text/sanitize.ts";

/** Shorter sentences ("Hi.", "Please help!") say little, so the next one is included. */
const SENTENCE = /^.{12,}?(?:[.!?](?=\s|$)|[。！？])/u;

/** The source of a title that no person gave. */
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
  // Text without spaces, or with a very long word, is cut inside the word.
  return `${(word > chars / 2 ? start.slice(0, word) : start).replace(/[\s,;:–-]+$/u, "")}…`;
}

/** The patch for an automatic title; undefined if the conversation has a better one, or this one. */
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

/** Whether a title only repeats the beginning of a prompt. */
export function isFromPrompt(title: string, prompt: string): boolean {
  const plain = (text: string) => text.replace(/\s+/g, " ").trim();
  return plain(prompt).startsWith(plain(title).replace(/…$/, ""));
}
