/** What an answer that comes after a restart allows. */
import type { Ask } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { deedOf } from "./late-answer.ts";

type Deed = Pick<Ask, "subject" | "input">;

it("[D62] another tool, folder or file with the same input is another deed", () => {
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
