/** Tool names for people. */
import { expect, it } from "vitest";
import { knownTool, toolTitle } from "./tool-title.ts";

it.each([
  ["AskUserQuestion", undefined, "Asked a question"],
  ["request_user_input", undefined, "Asked a question"],
  ["ExitPlanMode", undefined, "Plan"],
  ["TodoWrite", undefined, "Updated the to-do list"],
  ["update_plan", "Plan", "Updated the to-do list"],
  ["apply_patch", "Patch", "Edit"],
  ["exec_command", undefined, "Run"],
  ["command_execution", "Shell", "Run"],
  ["WebSearch", undefined, "Search the web"],
  ["mcp__github__list_issues", undefined, "github: list_issues"],
  ["mcp__lab__add", "add", "lab: add"],
  ["mcp__", undefined, "Mcp"],
  ["NotebookExport", undefined, "Notebook export"],
  ["get_PDF2_page", undefined, "Get PDF2 page"],
  ["read-thread", undefined, "Read thread"],
  ["NotebookExport", "Export as a notebook", "Export as a notebook"],
  ["other", "Look around", "Look around"],
  ["other", undefined, "Tool"],
  ["", undefined, "Tool"],
  ["constructor", undefined, "Constructor"],
  ["<img src=x>", undefined, "<img src=x>"],
  ["x".repeat(90), undefined, "x".repeat(90)],
  ["x".repeat(600_000), undefined, `${"x".repeat(200)}…`],
] as const)("[V129] %s (%s) is %s", (toolName, displayName, title) => {
  expect(toolTitle(toolName, displayName)).toBe(title);
});

it("[V129] looks up a name by its letters alone", () => {
  expect([knownTool("web_fetch"), knownTool("WebFetch"), knownTool("toString")]).toEqual([
    "Fetch",
    "Fetch",
    undefined,
  ]);
});
