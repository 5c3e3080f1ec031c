/** Mermaid's messages, and the text for the user. */
import { describe, expect, it } from "vitest";
import { inPlainWords } from "./error-words.ts";

const SOURCE = "graph TD\n  A --> B\n  C --[ D\n";

describe("errors in a diagram", () => {
  it.each([
    [
      "Parse error on line 2:\n...A --> B\n-----^\nExpecting 'AMP', got 'X'",
      "line 2 can't be read: “A --> B”",
    ],
    ["Lexical error on line 3. Unrecognized text.", "line 3 can't be read: “C --[ D”"],
    ["Parse error on line 4:\n\n^", "it ends too early, after “C --[ D”"],
    ["Parsing failed: unexpected character: ->~<- at offset: 4, line: 2", "line 2 can't be read: “A --> B”"],
    [
      "No diagram type detected matching given configuration for text: graph",
      "“graph TD” is not a supported diagram type",
    ],
    ["Too many edges", "it is too large"],
    ["Maximum call stack size exceeded", "it is too large"],
    ["TypeError: x is undefined.\n at y", "x is undefined"],
    ["", "Mermaid does not say why"],
  ])("[V43] are reported in plain words: %s", (message, words) => {
    expect(inPlainWords(message, SOURCE)).toBe(`Couldn't draw the diagram: ${words}.`);
  });

  it("[V43] quotes no more of a line than can be read", () => {
    const words = inPlainWords("Parse error on line 1", "x".repeat(10_000));
    expect(words.length).toBeLessThan(300);
    expect(inPlainWords("No diagram type detected", " \n%% only\n")).toBe(
      "Couldn't draw the diagram: it is empty.",
    );
  });
});
