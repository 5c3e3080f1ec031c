/** Numbered sources, and their numbers in the text. */
import { expect, it } from "vitest";
import { citedMarkdown, sourcesOf } from "./citations.ts";

const a = { url: "https://a.example", title: "A" };
const b = { url: "https://b.example" };

it("[E16] a source has one number, however many passages cite it", () => {
  expect(
    sourcesOf([{ ...b, snippet: "x" }, a, { ...b, title: "B", snippet: "y" }, { ...b, snippet: "x" }]),
  ).toEqual([
    { number: 1, url: b.url, title: "B", snippets: ["x", "y"] },
    { number: 2, url: a.url, title: "A", snippets: [] },
  ]);
});

it.each([
  ["One two.", [{ ...a, start: 0, end: 3 }], "One\\[1] two."],
  [
    "One\n\ntwo",
    [
      { ...a, start: 0, end: 5 },
      { ...b, start: 5, end: 8 },
    ],
    "One\\[1]\n\ntwo\\[2]",
  ],
  [
    "One",
    [
      { ...b, start: 0, end: 3 },
      { ...a, start: 0, end: 3 },
      { ...b, start: 0, end: 3 },
    ],
    "One\\[1]\\[2]",
  ],
  ["One", [a, { ...b, start: 0, end: 99 }], "One"],
  ["  ", [{ ...a, start: 0, end: 2 }], "  \\[1]"],
])("[E16] %j", (text, citations, expected) => {
  expect(citedMarkdown(text, citations)).toBe(expected);
});
