/** What an answer that comes after a restart allows. */
import type { Ask } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { deedOf, lateText } from "./late-answer.ts";

type Deed = Pick<Ask, "subject" | "input">;

it("[D62] another tool, folder or file with the same input is another action", () => {
  const input = { command: "ls" };
  const deeds: readonly Deed[] = [
    { input: {}, subject: { type: "tool", tool: "mcp__lab__ping", server: "lab" } },
    { input: {}, subject: { type: "tool", tool: "mcp__db__drop", server: "db" } },
    { input, subject: { type: "command", command: "ls", cwd: "/w" } },
    { input, subject: { type: "command", command: "ls", cwd: "/etc" } },
    { input, subject: { type: "tool", tool: "Run" } },
    { subject: { type: "diff", diff: "+a", paths: ["a"] } },
    { subject: { type: "diff", diff: "+a", paths: ["b"] } },
    { input },
    {},
  ];
  expect(new Set(deeds.map(deedOf)).size).toBe(deeds.length);
  for (const deed of deeds) expect(deedOf(structuredClone(deed))).toBe(deedOf(deed));
});

it("[D62] an agent reads what was allowed: a command, an edit, a tool", () => {
  const said = (subject: Ask["subject"], title?: string) =>
    lateText(
      { id: "a", kind: "permission", state: "expired", subject, title } as Ask,
      { allow: true },
      undefined,
    );
  expect(said({ type: "command", command: "ls", cwd: "/w" })).toContain("allows `ls`. It was not run");
  expect(said({ type: "diff", diff: "+a", paths: ["src/a.js"] }, "src/a.js")).toContain(
    "allows your edit of src/a.js. It was not run",
  );
  expect(said({ type: "tool", tool: "Fetch" }, "Fetch a page")).toContain("allows Fetch a page.");
});
