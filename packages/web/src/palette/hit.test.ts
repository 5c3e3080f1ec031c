/** The line of a search hit: what is marked, and how JSON reads. */
import { describe, expect, it } from "vitest";
import { type FoundLine, hitText } from "./hit.ts";

/** A match of `words` in a line, as the server tells it; `cut`: how many characters were left out before it. */
function found(line: string, words: string, cut = 0): FoundLine {
  const content = cut === 0 ? line : `…${line.slice(cut)}`;
  const start = line.indexOf(words);
  const place = { line: 3, content_line: 3, match_start: start, match_end: start + words.length };
  return { ...place, content, ...(cut === 0 ? {} : { shown_from: cut }) };
}

describe("a search hit", () => {
  const check = (hit: FoundLine, kind: string, expected: readonly [string, string, string]) => {
    const { before, words, after } = hitText(hit, kind, 12);
    expect([before, words, after]).toEqual(expected);
  };

  it("[V150] marks the words that were found, also in a line that is shown from its middle on", () => {
    check(found("a voucher of 10 %", "voucher"), "text", ["a ", "voucher", " of 10 %"]);
    check(found("much that is left out, a voucher of 10 %", "voucher", 21), "text", [
      "…, a ",
      "voucher",
      " of 10 %",
    ]);
  });

  it("[V150] shows JSON's escapes of a tool's input as text, and nothing else's", () => {
    const input = String.raw`{\n  test(\"a voucher of 10 %\", \u00e9\\`;
    check(found(input, "voucher"), "tool_call", [`{   test("a `, "voucher", ` of 10 %", é\\`]);
    check(found(String.raw`grep \n "voucher\t"`, "voucher"), "text", [
      String.raw`grep \n "`,
      "voucher",
      String.raw`\t"`,
    ]);
  });

  it("[V150] leaves an escape that is cut in two as it is", () => {
    check(found(String.raw`one\ntwo`, "ntwo"), "tool_call", ["one\\", "ntwo", ""]);
    check(found(String.raw`voucher\u00`, "voucher"), "tool_call", ["", "voucher", String.raw`\u00`]);
  });
});
