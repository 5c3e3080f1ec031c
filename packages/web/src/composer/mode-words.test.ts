/** What the mode menu says of an agent: what it does without asking. */
import { expect, it } from "vitest";
import { modeWords } from "./mode-words.ts";

it.each([
  ["ask", false, "Asks before it edits files or runs commands"],
  ["ask", true, "Runs commands that cannot write files. Asks before everything else"],
  ["edits", false, "Edits files without asking. Asks before commands"],
  [
    "edits",
    true,
    "Edits files and runs commands in the workspace, without network. Asks before everything else",
  ],
  ["plan", true, "Reads and writes a plan. Changes nothing"],
] as const)(
  "[CM1] mode %s of an agent with a sandbox (%s) says what is asked",
  (mode, isSandboxed, words) => {
    expect(modeWords(mode, isSandboxed).description).toBe(words);
  },
);
