/** Words that are too long for any line: they can break, and stay as they were. */
import { Children, isValidElement, type ReactNode } from "react";
import { expect, it } from "vitest";
import { breakable, wordBreaks } from "./long-words.tsx";

/** The text without its places to break, and how many of these it has. */
function read(node: ReactNode): { text: string; breaks: number } {
  let [text, breaks] = ["", 0];
  const walk = (each: ReactNode): void => {
    if (typeof each === "string") text += each;
    if (!isValidElement<{ children?: ReactNode }>(each)) return;
    if (each.type === "wbr") breaks++;
    Children.forEach(each.props.children, walk);
  };
  Children.forEach(node, walk);
  return { text, breaks };
}

it.each([
  ["short", 0],
  ["words ".repeat(5_000), 0],
  ["x".repeat(999), 0],
  [`a ${"x".repeat(1_000)} b`, 5],
  ["\u{1f600}".repeat(1_000), 9],
])("[V44] %# keeps its text and can break where it is long", (text, breaks) => {
  expect(read(breakable(text))).toEqual({ text, breaks });
});

it("[V44] a word of many pieces can break between some of them, and words that are not long between none", () => {
  const breaksOf = (pieces: readonly string[]) => pieces.map(wordBreaks()).filter(Boolean).length;
  expect(breaksOf(Array<string>(4_000).fill("x"))).toBe(9);
  expect(breaksOf(Array<string>(10).fill("x".repeat(500)))).toBe(9);
  expect(breaksOf(Array<string>(4_000).fill("word "))).toBe(0);
  expect(breaksOf(Array<string>(4_000).flatMap(() => ["a", ":", " "]))).toBe(0);
  expect(breaksOf([`a ${"x".repeat(300)}`, "y".repeat(300), " z"])).toBe(1);
});

it("[V44] no part ends within a pair", () => {
  const parts = `x${"\u{1f600}".repeat(2_000)}`;
  const { text } = read(breakable(parts));
  expect(text).toBe(parts);
  expect(text.isWellFormed()).toBe(true);
  Children.forEach(breakable(parts), (each) => {
    if (isValidElement(each)) expect(read(each).text.isWellFormed()).toBe(true);
  });
});
