/** Long answers in pieces. */

import { expect, it } from "vitest";
import { JSON_PIECE_CHARS } from "./limits.ts";
import { isWithin, slicedJson } from "./sliced-json.ts";

const long = (piece: string) => piece.repeat(Math.ceil((3 * JSON_PIECE_CHARS) / piece.length));

const VALUES: readonly [string, unknown][] = [
  ["nothing", null],
  ["a short answer", { a: [1, "x", null, true], b: undefined }],
  ["a long text", { content: long("a line\n"), version: 1 }],
  ["text in which every unit is escaped", long('\u0001"\\')],
  ["characters of two units, at every border", { even: long("😀"), odd: `x${long("😀")}` }],
  ["half characters", { a: long("\ud83d"), b: long("x\ude00") }],
  ["many short rows", Array.from({ length: 20_000 }, (_, i) => ({ i, text: `row ${i}`, gone: undefined }))],
  ["what is no JSON inside a list", [long("x"), undefined, Number.NaN]],
  ["fields that are left out, first and last", { a: undefined, b: long("x"), c: undefined }],
  ["a deep value", Array.from({ length: 90 }).reduce((inner) => ({ inner, text: "x".repeat(4_000) }), {})],
];

it.each(VALUES)("[AC260] the text of %s is what JSON.stringify makes of it", async (_, value) => {
  const sliced = await slicedJson(value, async () => undefined);
  expect(sliced.toString()).toBe(JSON.stringify(value));
});

it("[AC260] between two pieces others run, and no piece is much longer than the limit", async () => {
  let rests = 0;
  const rest = async () => void rests++;
  const bytes = await slicedJson({ rows: Array(100).fill({ text: "y".repeat(30_000) }) }, rest);
  expect(rests).toBeGreaterThanOrEqual(Math.floor(bytes.length / (2 * JSON_PIECE_CHARS)));
});

it("[AC260] how long an answer is, is known without making it", () => {
  expect(isWithin({ a: "x".repeat(90) }, 100)).toBe(true);
  expect(isWithin({ a: "x".repeat(100) }, 100)).toBe(false);
  expect(isWithin(Array(1_000_000).fill(1), 1_000)).toBe(false);
});
