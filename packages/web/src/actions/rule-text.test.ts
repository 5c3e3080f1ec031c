/** Rules as one writes them. */
import { expect, test } from "vitest";
import { type Pattern, patternFrom, textOf } from "./rule-text.ts";

test.each<[Pattern["type"], string, Pattern | undefined, string]>([
  ["command", " npm  test ", { type: "command", words: ["npm", "test"] }, "npm test"],
  ["command", "make all =", { type: "command", words: ["make", "all"], exact: true }, "make all ="],
  ["path", "src", { type: "path", folder: "/shop/src" }, "src"],
  ["path", "./src/", { type: "path", folder: "/shop/src" }, "src"],
  ["path", "/etc", { type: "path", folder: "/etc" }, "/etc"],
  ["domain", "Docs.example.com", { type: "domain", domain: "docs.example.com" }, "docs.example.com"],
  ["domain", "a b", undefined, ""],
  ["tool", "create from jira", { type: "tool", tool: "create", server: "jira" }, "create from jira"],
  ["tool", "create of jira", { type: "tool", tool: "create", server: "jira" }, "create from jira"],
  ["tool", "", undefined, ""],
])("[CM15] %s %s", (type, text, pattern, again) => {
  expect(patternFrom(type, text, "/shop")).toEqual(pattern);
  if (pattern !== undefined) expect(textOf(pattern, "/shop")).toBe(again);
});
