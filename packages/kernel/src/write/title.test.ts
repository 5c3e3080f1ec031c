/** Automatic titles: the first sentence, cut at a word; never replacing a person's title. */
import { expect, it } from "vitest";
import { isFromPrompt, titleFrom, titlePatch } from "./title.ts";

it.each([
  ["Fix the parser. It drops the last line.", "Fix the parser"],
  ["Why does the build fail? Look at CI.", "Why does the build fail?"],
  ["Hi. Please fix the login page. Thanks!", "Hi. Please fix the login page"],
  ["# Task\n\nDo it", "Task"],
  ["\n\n  - **Add** a `--json` option to ls\nmore", "Add a --json option to ls"],
  ["<context>\nRefactor the store", "Refactor the store"],
  ["```\ncode first\n```", "code first"],
  ["version 1.2.3 is broken", "version 1.2.3 is broken"],
  ["修复解析器。它丢失了最后一行，请检查所有测试。然后报告", "修复解析器。它丢失了最后一行，请检查所有测试"],
  ["", ""],
  ["...", ""],
  [
    "Please look at all the places where we parse dates and make sure that every one of them uses the same function",
    "Please look at all the places where we parse dates and make sure that every…",
  ],
  ["x".repeat(200), `${"x".repeat(79)}…`],
])("[K96] %j", (text, title) => {
  expect(titleFrom(text)).toBe(title);
});

it.each([
  ["no title yet", { title: "", metadata: {} }, "prompt", true],
  ["the prompt's", { title: "Fix", metadata: { titled: "prompt" } }, "prompt", false],
  ["the prompt's, then the provider's", { title: "Fix", metadata: { titled: "prompt" } }, "provider", true],
  ["the provider's, then another", { title: "Fix", metadata: { titled: "provider" } }, "provider", true],
  ["a person's", { title: "Fix", metadata: {} }, "provider", false],
  ["the same again", { title: "New", metadata: { titled: "provider" } }, "provider", false],
] as const)("[K97] %s", (_, record, source, isNew) => {
  expect(titlePatch(record, "New", source)).toEqual(
    isNew ? { title: "New", metadata: { titled: source } } : undefined,
  );
});

it.each([
  ["Fix the…", "Fix the\nparser", true],
  ["Fix the parser", "Fix the parser", true],
  ["My parser work", "Fix the parser", false],
])("[K97] %j of %j", (title, prompt, expected) => {
  expect(isFromPrompt(title, prompt)).toBe(expected);
});
