/** What an answer that comes after a restart allows. */
import {
  type Ask,
  allowingAnswers,
  askOf,
  isProblem,
  type JsonObject,
  Kernel,
  lateAsk,
  MemoryStore,
  VirtualEnv,
} from "@blockyard/kernel";
import { expect, it } from "vitest";
import { must } from "../testing/session-harness.ts";
import { Answering } from "./answering.ts";
import { deedOf, lateText } from "./late-answer.ts";
import { ModeWatch } from "./mode-watch.ts";
import type { Answer, Run, TurnStart } from "./run.ts";

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

it("[D62] [D7] a call that was allowed before the restart says who allowed it, and names no rule", async () => {
  const kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  const conversation = must(await kernel.createConversation("ann", ""));
  /** A call that asks, in the turn of that name. */
  const asks = async (turn: string, state: Ask["state"]) =>
    must(
      await kernel.write(conversation, {
        agent: "claude",
        plan: (draft) => {
          const ask = { id: turn, kind: "permission", state, input: { command: "ls" } };
          const metadata = { turn, toolUseId: turn, toolName: "Bash", ask: ask as JsonObject };
          const status = state === "asked" ? "running" : "error";
          const call = draft.create({ kind: "tool_call", role: "model", status, text: "", metadata });
          if (isProblem(call)) return call;
          const begun = {
            id: turn,
            provider: "claude",
            agent: "claude",
            startedBy: "ann",
            startedAt: draft.at,
          };
          draft.setTurn(
            state === "asked"
              ? { ...begun, status: "running" }
              : { ...begun, status: "error", reason: "interrupted" },
          );
          return call.id;
        },
      }),
    );
  const authors: unknown[] = [];
  let live: { readonly start: TurnStart; readonly run: Run; readonly mode: ModeWatch } | undefined;
  const answering = new Answering({
    ...{ kernel, rules: undefined, liveIn: () => live },
    start: async (_, { author }) => void authors.push(author),
  });
  await answering.answer("ann", await asks("cut", "expired"), "cut", { allow: true });
  // Nobody's words but ours: "You were cut off by a restart …".
  expect(authors).toEqual(["blockyard"]);
  const call = await asks("again", "asked");
  const block = must(await kernel.block(call));
  const heard = await new Promise<Answer>((answer) => {
    const run = { asks: () => call, answer } as unknown as Run;
    const start = { id: "again", request: { conversation, cwd: "/w" } } as unknown as TurnStart;
    live = { start, run, mode: new ModeWatch(kernel, start, run) };
    answering.heard(conversation, [block]);
  });
  expect(heard).toMatchObject({ allow: true, byRule: false });
  const ask = askOf(must(await kernel.block(call)).metadata);
  expect(ask).toMatchObject({ state: "allowed", answeredBy: "ann" });
  expect(ask).not.toHaveProperty("rule");
});
