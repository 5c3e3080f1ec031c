/** How the line of a search hit reads: JSON as text, and the mark where the words are. */
import { describe, expect, it } from "vitest";
import { type FoundLine, hitText } from "./search-hit.ts";

/** A match of `words` in a line, as the server returns it; `cut`: how many characters before it were left out. */
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

  it("[V150] shows of a tool's input the string that was found, without the JSON around it", () => {
    const input = String.raw`{"file_path":"/shop/cart.ts","content":"a voucher\nof \"10\" %","mode":"x","limit":20}`;
    check(found(input, "voucher"), "tool_call", ["a ", "voucher", ' of "10" %']);
    check(found(input, "cart"), "tool_call", ["/shop/", "cart", ".ts"]);
    check(found(input, "content"), "tool_call", ["", "content", ""]);
    // In the middle of a long line, whose start and end are not visible.
    check(found(input, "voucher", 20), "tool_call", ["a ", "voucher", ' of "10" %']);
    check(found(input, "10", input.indexOf("of ")), "tool_call", ['…of "', "10", '" %']);
    // A field on a line of its own; a number; a search for JSON itself.
    check(found('  "content": "a voucher",', "voucher"), "tool_call", ["a ", "voucher", ""]);
    check(found('{"limit":20}', "20"), "tool_call", ['{"limit":', "20", "}"]);
    check(found('{"a":"b","c":1}', '"b",'), "tool_call", ['{"a":', '"b",', '"c":1}']);
  });

  it("[V150] shows of a diff's head the path of the file, and leaves its lines as they are", () => {
    check(found("+++ /shop/cart.ts", "cart"), "file_change", ["/shop/", "cart", ".ts"]);
    check(found("--- a/cart.ts", "cart"), "file_change", ["", "cart", ".ts"]);
    check(found("+++ /shop/cart.ts", "+++"), "file_change", ["", "+++", " /shop/cart.ts"]);
    check(found("--- the cart is empty", "cart"), "file_change", ["--- the ", "cart", " is empty"]);
    check(found("+a cart", "cart"), "file_change", ["+a ", "cart", ""]);
    check(found("+++ /shop/cart.ts", "cart"), "text", ["+++ /shop/", "cart", ".ts"]);
  });

  it("[V150] leaves the quotes of a tool that takes plain text", () => {
    check(found('const a = ["voucher", b];', "voucher"), "tool_call", ['const a = ["', "voucher", '", b];']);
  });

  it("[V150] leaves a cut escape as it is", () => {
    check(found(String.raw`one\ntwo`, "ntwo"), "tool_call", ["one\\", "ntwo", ""]);
    check(found(String.raw`voucher\u00`, "voucher"), "tool_call", ["", "voucher", String.raw`\u00`]);
  });
});
