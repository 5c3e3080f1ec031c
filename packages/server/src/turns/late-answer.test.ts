/** What an answer that comes after a restart allows. */
import { type Ask, allowingAnswers, lateAsk } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { deedOf, lateText } from "./late-answer.ts";

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

it("[D62] what only the process that asked could carry out is not offered late", () => {
  const ask: Pick<Ask, "kind" | "suggestions"> = {
    kind: "permission",
    suggestions: [
      { id: "session", label: "Allow until this turn ends", scope: "once", native: "acceptForSession" },
      { id: "stop", label: "Deny, and stop the turn", scope: "once", native: "cancel", deny: true },
      { id: "allow_always", label: "Always", scope: "always", native: { kind: "allow_always" } },
      { id: "rule-workspace", label: "Allow `ls` in this workspace", scope: "workspace" },
    ],
  };
  expect(allowingAnswers(lateAsk(ask)).map((each) => each?.id)).toEqual([undefined, "rule-workspace"]);
  const plan: Pick<Ask, "kind" | "suggestions"> = { ...ask, kind: "plan" };
  expect(lateAsk(plan)).toEqual(plan);
});
