/** Which JSON the server accepts, and which it refuses before parsing. */
import { isProblem } from "@blockyard/kernel";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parseStrict } from "./strict-json.ts";

function refusal(text: string): string | undefined {
  const parsed = parseStrict(text);
  return isProblem(parsed) ? parsed.message : undefined;
}

describe("strict JSON", () => {
  it("[AC20] accepts whatever JSON.stringify writes, and returns the same value", () => {
    const anything = fc.jsonValue({ maxDepth: 8 });
    fc.assert(
      fc.property(anything, (value) => {
        fc.pre(!JSON.stringify(value).includes("__proto__"));
        expect(parseStrict(JSON.stringify(value))).toEqual({ json: JSON.parse(JSON.stringify(value)) });
      }),
    );
  });

  it.each([
    ['{"a":1,"a":2}', "a"],
    ['{"a":1,"b":{"c":1,"c":2}}', "c"],
    ['[{"x":[{"y":1, "y":1}]}]', "y"],
    ['{"a":1,"\\u0061":2}', "a"],
    ['{"":1,"":2}', ""],
    ['{"a":"\\\\","a":2}', "a"],
    ['{ "a" : {"b":1} , "b":2, "a" : 3}', "a"],
  ])("[AC20] refuses a doubled key in %s", (text, key) => {
    expect(refusal(text)).toContain(JSON.stringify(key));
  });

  it.each([
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '[{"a":1},{"a":2}]',
    '{"a":"a","b":["a","a"]}',
    '{"a":"\\"a\\",","b":"}{"}',
    "null",
    '"text"',
    "12",
  ])("[AC20] takes %s", (text) => {
    expect(parseStrict(text)).toEqual({ json: JSON.parse(text) });
  });

  it("[AC20] refuses depth before it parses, in time that is linear in the text", () => {
    const deep = "[".repeat(5_000_000);
    const start = performance.now();
    expect(refusal(deep)).toContain("depth");
    expect(refusal(`{"a":`.repeat(1_000_000))).toContain("depth");
    expect(refusal(`"${"\\".repeat(200_000)}`)).toContain("invalid JSON");
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  it.each(['{"__proto__":1}', '{"a":[{"\\u005f_proto__":{}}]}', '{"a":{"__proto__":{"b":1}}}'])(
    "[AC21] refuses the key of a prototype in %s",
    (text) => {
      expect(refusal(text)).toContain("__proto__");
    },
  );

  it("[AC21] refuses an object that is too wide before it parses it", () => {
    const wide = (keys: number) => `{${Array.from({ length: keys }, (_, i) => `"k${i}":0`).join(",")}}`;
    expect(refusal(wide(20_000))).toBeUndefined();
    expect(refusal(wide(20_001))).toContain("20000 keys");
  });

  it.each(["", "{", '{"a"', '{"a":}', '"', "]", "}{", '{"a":1,}', "\u0000", "{'a':1}", "NaN"])(
    "[AC20] refuses %j as no JSON",
    (text) => {
      expect(refusal(text)).toBe("invalid JSON");
    },
  );
});
