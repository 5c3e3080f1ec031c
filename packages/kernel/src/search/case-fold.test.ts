/** Case folding, compared with the regex engine's own notion of equal characters. */
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { foldCase } from "./case-fold.ts";

describe("[Q5] folding", () => {
  it.each([
    ["", ""],
    ["Hello, World 09_", "hello, world 09_"],
    ["\u212aelvin", "kelvin"],
    ["ſtraße STRASSE", "straße strasse"],
    ["ẞ", "ß"],
    ["ΟΔΟΣ οδος", "οδοσ οδοσ"],
    ["İIıi", "İiıi"],
    ["ÀÉ", "àé"],
    ["𐐀𐐨😀", "𐐨𐐨😀"],
    ["\ud83dX", "\ud83dx"],
    ["X\ude00", "x\ude00"],
    ["X\ud83d", "x\ud83d"],
  ])("of %j is %j", (text, folded) => {
    expect(foldCase(text)).toBe(folded);
    expect(foldCase(folded)).toBe(folded);
  });

  it("keeps every offset, wherever the text is split", () => {
    for (const length of [8_190, 8_191, 8_192, 8_193, 16_384]) {
      const text = `${"é".repeat(length)}𐐀Ab${"İ".repeat(9_000)}Z`;
      const folded = foldCase(text);
      expect(folded.length).toBe(text.length);
      expect(folded.indexOf("𐐨ab")).toBe(length);
      expect(folded.at(-1)).toBe("z");
    }
  });

  it("treats two characters as equal exactly if the regex engine does", () => {
    const cased: string[] = [];
    for (let point = 1; point <= 0x10ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue;
      const character = String.fromCodePoint(point);
      if (character.toLowerCase() !== character || character.toUpperCase() !== character)
        cased.push(character);
      else if (foldCase(character) !== character) cased.push(character);
    }
    expect(cased.length).toBeGreaterThan(2_800);
    const all = cased.join("");
    const groups = Map.groupBy(cased, foldCase);
    for (const character of cased) {
      const matcher = RE2JS.compile(RE2JS.quote(character), RE2JS.CASE_INSENSITIVE).matcher(all);
      const equal: string[] = [];
      while (matcher.find()) equal.push(matcher.group() as string);
      expect(equal, character).toEqual(groups.get(foldCase(character)));
    }
  });
});
