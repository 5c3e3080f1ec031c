/** What patterns demand of a text, and the filters that tell whether a text may hold it. */
import { describe, expect, it } from "vitest";
import { type Demand, shapeOf, shapeOfLiteral } from "./search-syntax.ts";
import { filterOf, mayContain, trigramsOf } from "./trigram.ts";

/** A demand in one line: strings joined by "&", groups in parentheses with "|". */
function told(demand: Demand): string {
  const groups = demand.groups.map((group) => `(${group.map(told).join("|")})`);
  return [...demand.strings, ...groups].join("&");
}

describe("[Q13] what a pattern demands", () => {
  it.each([
    ["hello", "hello"],
    ["Hello WORLD", "hello world"],
    ["foo.*bar", "foo&bar"],
    ["foo|bar", "(foo|bar)"],
    ["foo(bar|baz)", "(foobar|foobaz)"],
    ["ab(c|d)ef", "(abcef|abdef)"],
    ["[Ee]rror", "error"],
    ["colou?r", "(colour|color)"],
    ["abc+de", "abc&cde"],
    ["abc*def", "def"],
    ["ab{2}c", "abbc"],
    ["(ab){2,}x", "abab&ababx"],
    ["(?i)ABC", "abc"],
    ["(?P<year>\\d+)-sept", "-sept"],
    ["\\Qa.b\\Ec", "a.bc"],
    ["\\x41\\x{42}\\103\\.", "abc."],
    ["^\\bword\\b$", "word"],
    ["v[0-9]\\.x", "(v0.x|v1.x|v2.x|v3.x|v4.x|v5.x|v6.x|v7.x|v8.x|v9.x)"],
    ["foo[^x]bar", "foo&bar"],
    ["foo\\dbar", "foo&bar"],
    ["(foo|ba)z*", ""],
    ["(foo|.)", ""],
    ["a|b", ""],
    ["ab", ""],
    [".*", ""],
    ["(foo)*", ""],
    ["(foo)?bar", "(foobar|bar)"],
    ["(foo.x|bar.y)quux", "quux&((foo)|(bar))"],
    ["a(?i)*bcd", "bcd"],
    ["x{0}abc", "abc"],
    ["\u212aelvin", "kelvin"],
  ])("%s: %s", (pattern, expected) => {
    const simple = (text: string) => text.replaceAll(/\((\w+)\)/g, "$1");
    expect(simple(told(shapeOf(pattern).demand))).toBe(simple(expected));
  });

  it("a literal demands itself, and less than three units nothing", () => {
    expect(told(shapeOfLiteral("A.b(").demand)).toBe("a.b(");
    expect(trigramsOf(shapeOfLiteral("ab").demand)).toBeUndefined();
    expect(trigramsOf(shapeOf("ab|abcd").demand)).toBeUndefined();
    expect(trigramsOf(shapeOfLiteral("abc").demand)?.all).toHaveLength(1);
  });

  it("nested repetitions do not make the demand explode", () => {
    let pattern = "ab.cd";
    for (let depth = 0; depth < 60; depth++) pattern = `(${pattern}){3}`;
    expect(told(shapeOf(pattern).demand).length).toBeLessThan(100);
  });
});

describe("line-bound", () => {
  it.each([
    ["abc", true],
    ["a.b", true],
    ["[^\\n]x", true],
    ["[^\\s]", true],
    ["\\d\\w\\pL\\p{Lu}$", true],
    ["[[:alpha:]]", true],
    ["[^x]", false],
    ["a\\sb", false],
    ["a\\nb", false],
    ["a\nb", false],
    ["\\W", false],
    ["(?s)a.b", false],
    ["(?-m)^a", false],
    ["(?i-s)a", true],
    ["\\Aa", false],
    ["a\\z", false],
    ["\\PL", false],
    ["\\p{Greek}", false],
    ["[^\\p{Greek}]", false],
    ["[\\x00-\\x20]", false],
    ["[[:space:]]", false],
  ])("[Q4] %s: %s", (pattern, expected) => {
    expect(shapeOf(pattern).lineBound).toBe(expected);
  });
});

describe("[Q12] a filter", () => {
  const text = "The quick brown fox jumps over the lazy dog; ÀÉÎ straße 😀𐐀 κόσμος\nsecond line\r\n";

  it("holds every string that its text holds, in any case", () => {
    const filter = filterOf(text);
    for (let from = 0; from < text.length; from++) {
      for (const length of [1, 2, 3, 4, 9, 30]) {
        const part = text.slice(from, from + length);
        if (!part.isWellFormed()) continue; // no pattern holds half of a pair [Q3]
        for (const literal of [part, part.toUpperCase(), part.toLowerCase()]) {
          if (literal.length !== part.length) continue; // "ß" in upper case is another string
          expect(mayContain(filter, trigramsOf(shapeOfLiteral(literal).demand)), literal).toBe(true);
        }
      }
    }
  });

  it("rules out most of what its text does not hold", () => {
    const filter = filterOf(text);
    const ruledOut = ["needle", "function", "zebra crossing", "κατα", "xyzzy"].filter(
      (literal) => !mayContain(filter, trigramsOf(shapeOfLiteral(literal).demand)),
    );
    expect(ruledOut.length).toBeGreaterThanOrEqual(4);
  });

  it("of a text without a trigram holds nothing, and lets through what demands nothing", () => {
    expect(filterOf("ab")).toHaveLength(0);
    expect(mayContain(filterOf("ab"), trigramsOf(shapeOfLiteral("abc").demand))).toBe(false);
    expect(mayContain(filterOf("ab"), trigramsOf(shapeOfLiteral("ab").demand))).toBe(true);
    expect(mayContain(filterOf(""), undefined)).toBe(true);
  });

  it("can be selected from many in a row", () => {
    const filters = ["first text", "second text", "third text"].map((each) => filterOf(each));
    const row = new Uint8Array(filters.reduce((sum, filter) => sum + filter.length, 0));
    let at = 0;
    for (const filter of filters) {
      row.set(filter, at);
      at += filter.length;
    }
    const from = filters[0]!.length;
    const query = trigramsOf(shapeOfLiteral("second").demand);
    expect(mayContain(row, query, from, from + filters[1]!.length)).toBe(true);
    expect(mayContain(row, query, from, from)).toBe(false);
    expect(mayContain(row, query, 0, from)).toBe(mayContain(filters[0]!, query));
  });
});

describe("[Q14] a filter's size", () => {
  it.each([
    ["short", "abc", 1],
    ["the same over and over", "abcabc".repeat(10_000), 2],
    ["prose", Array.from({ length: 5_000 }, (_, i) => `word${i % 300} `).join(""), 600],
  ])("%s", (_, text, max) => {
    expect(filterOf(text).length).toBeLessThanOrEqual(max);
  });

  it("never exceeds half of the text, nor half a megabyte", () => {
    let state = 1;
    const noise = Array.from({ length: 3_000_000 }, () => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return String.fromCharCode(0x4e00 + ((state >>> 16) % 20_000));
    }).join("");
    expect(filterOf(noise.slice(0, 5_000)).length).toBeLessThanOrEqual(2_500);
    expect(filterOf(noise).length).toBe(512 * 1024);
    // The state of the long text is cleared.
    expect(filterOf("abc")).toEqual(filterOf("ABC"));
    expect(filterOf("abc").length).toBe(1);
  });
});
