/** The incremental parser: whatever the cuts, the end is the same; stable parts stay. */
import { Text } from "@blockyard/kernel";
import type { Token } from "marked";
import { describe, expect, test } from "vitest";
import { type LongParagraph, type Parsed, parseGrowing, parseWhole } from "./parse.ts";

const flat = (parsed: Parsed): Token[] => [...parsed.settled.flat(), ...parsed.tail];
const words = (tokens: readonly Token[]): string =>
  tokens
    .filter((token) => token.type !== "space" && token.type !== "def")
    .map(rawOf)
    .join("")
    .replace(/\s+/g, " ");
/** Of a paragraph whose beginning is settled, `raw` is the rest. */
const rawOf = (token: Token): string =>
  token.type === "long-paragraph"
    ? (token as LongParagraph).parts
        .flat()
        .map(({ raw }) => raw)
        .join("")
    : token.raw;

function stream(text: string, step: number): { last: Parsed; longestTail: number } {
  let parsed: Parsed | undefined;
  let longestTail = 0;
  for (let end = step; end < text.length + step; end += step) {
    parsed = parseGrowing(parsed, Text.of(text.slice(0, Math.min(end, text.length))));
    const seen = parsed.settledChars + parsed.sentenceChars;
    longestTail = Math.max(longestTail, Math.min(end, text.length) - seen);
  }
  return { last: parsed as Parsed, longestTail };
}

const SAMPLES: Readonly<Record<string, string>> = {
  paragraphs: "One **two** three.\n\nFour `five`\nsix.\n\n# Seven\n\neight",
  fence: "Before\n\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n\nAfter it.\n",
  lists: "- a\n- b\n  - c\n  - d\n\n1. one\n2. two\n\nend\n",
  table: "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |\n\nend\n",
  quote: "> one\n> two\n\nthree\n",
  carriage: "one\r\ntwo\r\n\r\n- a\r\n- b\r\n",
  formulas: "So\n$$\na \\\\\n- b\n=\nc\n$$\nand\n\n\\[\n- a\n\\]\n\nend $x_1*y*z$.\n",
  references: "[a]: https://example.org/a\n\nSee [a] and **b**.\n",
};

describe("growing markdown", () => {
  test.each(Object.entries(SAMPLES))("%s: the same words, whatever the cuts", (_name, text) => {
    const whole = words(flat(parseWhole(Text.of(text))));
    for (const step of [1, 2, 3, 7, 50])
      expect(words(flat(stream(text, step).last)).trim()).toBe(whole.trim());
  });

  test("[V24] a formula that is still being written is one from its first line on", () => {
    const text = "So:\n$$\nx \\\\\n- y_1*z_1*a\n";
    for (let end = 7; end <= text.length; end++) {
      const types = flat(parseGrowing(undefined, Text.of(text.slice(0, end)))).map(({ type }) => type);
      expect(types).toEqual(["paragraph", "math"]);
    }
    const streamed = stream(`${text}$$\n\nend`, 1).last;
    expect(flat(streamed).map(({ type }) => type)).toEqual(["paragraph", "math", "paragraph"]);
    const left = flat(parseWhole(Text.of("$$ never closed\n\nend"))).map(({ type }) => type);
    expect(left).toEqual(["paragraph", "paragraph"]);
  });

  test("a finished block keeps its token", () => {
    const first = parseGrowing(undefined, Text.of("One.\n\nTwo"));
    const second = parseGrowing(first, Text.of("One.\n\nTwo and\n\nThree"));
    expect(second.settled[0]?.[0]).toBe(first.settled[0]?.[0]);
  });

  test("a long list and a long paragraph have short tails", () => {
    expect(stream("- an item with **bold** text\n".repeat(400), 40).longestTail).toBeLessThan(1_000);
    expect(stream("A sentence with `code` in it. ".repeat(400), 40).longestTail).toBeLessThan(2_500);
  });

  test("open syntax looks closed", () => {
    const types = (text: string) => {
      const [paragraph] = flat(parseGrowing(undefined, Text.of(text)));
      return (paragraph as { tokens?: Token[] }).tokens?.map((token) => token.type);
    };
    expect(types("a **bo")).toEqual(["text", "strong"]);
    expect(types("a `co")).toEqual(["text", "codespan"]);
    expect(types("a [link](https://exa")).toEqual(["text"]);
  });
});

describe("a text that is expensive to lex costs no more than its length, and is shown", () => {
  const n = 128 * 1024;
  const many = (text: string, chars = n): string => text.repeat(chars / text.length);
  const HARD: Readonly<Record<string, string>> = {
    "an item and a log behind it": `- a\n${many("b\n")}`,
    "an item with a log inside it": `- a\n${many("  b\n")}`,
    "marks of exclamation": many("!"),
    "half an address": `${many("a.")}@`,
    "emphases that begin and end": many("*a") + many("b*"),
    "emphases of all kinds": many("**a*b_c__"),
    "quotes in quotes": many(">"),
    "lists in lists": `${many("- ")}x`,
    "a table of many columns and rows": `${many("a|", 8_192)}\n${many("-|", 8_192)}\n${many("a|\n", 8_192)}`,
    brackets: many("[") + many("]"),
    "sentences in a bracket": `[${many("a, B ")}]`,
  };
  test.each(Object.entries(HARD))("%s", (_name, text) => {
    const start = performance.now();
    for (const parsed of [parseWhole(Text.of(text)), parseGrowing(undefined, Text.of(text))])
      expect(words(flat(parsed)).replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
    expect(performance.now() - start).toBeLessThan(15_000);
  });

  test("a long answer is markdown still", () => {
    const section = `# A\n\n${"Some **bold** words and `code`. ".repeat(80)}\n\n${"- an *item*\n".repeat(20)}\n`;
    const parsed = parseWhole(Text.of(section.repeat(200)));
    expect(flat(parsed).map(({ type }) => type)).not.toContain("html");
  });
});
