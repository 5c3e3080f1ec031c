/** How the words of a problem end. */
import { expect, it } from "vitest";
import { asSentence } from "./as-sentence.ts";

it.each([
  [
    "codex was not found. Install it, and restart Blockyard",
    "codex was not found. Install it, and restart Blockyard.",
  ],
  [
    "The agent speaks version 2 of ACP; Blockyard speaks version 1.",
    "The agent speaks version 2 of ACP; Blockyard speaks version 1.",
  ],
])("ends %s as a sentence does", (words, sentence) => {
  expect(asSentence(words)).toBe(sentence);
});
