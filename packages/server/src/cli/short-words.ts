/** Names and labels of an agent in a terminal: a long one is cut, and says so, so that the question stays on the screen. */
import { ASK_BOUNDS } from "@blockyard/kernel";

export function shortWords(words: string): string {
  const left = words.length - ASK_BOUNDS.wordsChars;
  if (left <= 0) return words;
  const shown = words.slice(0, ASK_BOUNDS.wordsChars).replace(/[\ud800-\udbff]$/, "");
  return `${shown}… (${left.toLocaleString("en-US")} more characters)`;
}
