/** What somebody in a terminal is asked to allow, and how often. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import {
  type Block,
  type BlockSnapshot,
  isProblem,
  type Json,
  Kernel,
  MemoryStore,
  type Problem,
} from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { Auth } from "../access/auth.ts";
import { Tools } from "../app/tool-table.ts";
import { makeConfig } from "../config/config.ts";
import { nodeEnv } from "../system/env.ts";
import type { BlockSource } from "./block-source.ts";
import { Follower, type FollowerPort } from "./follow.ts";
import { afterwards } from "./follow-turn.ts";
import { whenRead } from "./run-turn.ts";
import { styleFor } from "./terminal.ts";
import { askText, forgetTyped, typed, watchAnswer } from "./terminal-ask.ts";

type Draft = Parameters<Parameters<Kernel["write"]>[1]["plan"]>[0];

function asking(block_id: string, approval: object): BlockSnapshot {
  const metadata = { toolName: "Bash", approval: { id: "a", state: "asked", ...approval } };
  return {
    ...{ block_id, metadata, kind: "tool_call", role: "model", status: "running", content: "", version: 1 },
  } as unknown as BlockSnapshot;
}

/** A follower of a conversation whose tools `call` answers; what it shows collects in `seen`. */
function follow(
  call: (tool: string, input: Json) => unknown,
  port: Partial<FollowerPort> = {},
  conversation = "c",
) {
  const seen = { shown: "" };
  const follower = new Follower({ call } as unknown as BlockSource, conversation, 0, {
    text: { style: styleFor({}), width: 80, isFull: false },
    show: async (piece) => {
      seen.shown += piece;
    },
    ended: async () => undefined,
    asked: async () => false,
    ...port,
  });
  return { follower, seen };
}

it("[D7] every character of the input shows, and no title looks like an input", () => {
  const title = 'ls\n{\n  "command": "ls"\n}\u001b[8m';
  const command = `ls ${" ".repeat(500)}\u200b; rm\u00ad -rf \u{e0041}~\u009b2J\u202e`;
  const text = askText(asking("c/claude/1", { title, input: { command } }));
  const [first, ...rest] = text.split("\n");
  expect(first).toBe('Needs approval: ls { "command": "ls" }⟨U+001B⟩[8m');
  expect(rest).toEqual([
    "{",
    '  "command": "ls⟨U+0020 ×501⟩⟨U+200B⟩; rm⟨U+00AD⟩ -rf ⟨U+E0041⟩~⟨U+009B⟩2J⟨U+202E⟩"',
    "}",
  ]);
});

it("[D41] [D7] a change shows as a diff above its exact input, with nothing in it that cannot be seen", () => {
  const diff = "--- a\n+++ a\n@@ -0 +0 @@\n-b\u202e\n+c\nExact input:\n";
  const text = askText(asking("c/claude/1", { title: "a", input: { path: "a" }, diff }));
  expect(text.split("\n")).toEqual([
    "Needs approval: a",
    ...["  │ --- a", "  │ +++ a", "  │ @@ -0 +0 @@", "  │ -b⟨U+202E⟩", "  │ +c", "  │ Exact input:"],
    ...["Exact input:", "{", '  "path": "a"', "}"],
  ]);
});

it.each([
  ["file_change", ["/srv/shop/a.ts"], "Edit /srv/shop/a.ts"],
  ["/srv/shop/a.ts", ["/srv/shop/a.ts", "/srv/shop/b.ts"], "Edit /srv/shop/a.ts and 1 more"],
  ["a.ts", ["a\u202e.ts\n  1  Deny"], "Edit a⟨U+202E⟩.ts 1 Deny"],
  ["Write a.ts", [], "Write a.ts"],
])("[D7] a request to edit, with the title %s and the paths %j, is %s", (title, paths, heading) => {
  const subject = { type: "diff", diff: "-a\n+b\n", paths };
  const ask = { id: "a", kind: "permission", state: "asked", title, subject };
  const block = {
    ...asking("c/claude/1", {}),
    metadata: { toolName: "Edit", ask },
  } as unknown as BlockSnapshot;
  expect(askText(block).split("\n")[0]).toBe(`Needs approval: ${heading}`);
});

it("[CM12] a request without a plan says that there is none", () => {
  const ask = { id: "a", kind: "plan", state: "asked", input: {} };
  const block = { ...asking("c/claude/1", {}), metadata: { toolName: "ExitPlanMode", ask } } as BlockSnapshot;
  expect(askText(block)).toMatch(/^Needs approval: ExitPlanMode\nThe agent gave no plan\. .*\n\{\}$/);
});

it("[D7] a command of several lines shows line by line above its exact input", () => {
  const command = "for i in 1 2\ndo echo $i\n  1  Deny\ndone";
  const block = asking("c/claude/1", {});
  const subject = { type: "command", command };
  const ask = { id: "a", kind: "permission", state: "asked", subject, input: { command } };
  const text = askText({ ...block, metadata: { toolName: "Bash", ask } } as BlockSnapshot);
  expect(text.split("\n").slice(1, 6)).toEqual([
    ...["  │ for i in 1 2", "  │ do echo $i", "  │   1  Deny", "  │ done", "Exact input:"],
  ]);
});

it("[D7] a long command of an agent that does not tell its input shows whole", () => {
  const command = `echo ${"x".repeat(300)}; rm -rf ~`;
  const ask = { id: "a", kind: "permission", state: "asked", title: command, input: {} };
  const metadata = { toolName: "run_shell_command", ask: { ...ask, subject: { type: "command", command } } };
  const text = askText({ ...asking("c/gemini/1", {}), metadata } as BlockSnapshot);
  expect(text.split("\n")[1]).toBe(`  │ ${command}`);
});

it("[D7] the same request on another block is asked for itself", async () => {
  const blocks = [asking("c/bob/1", {}), asking("c/claude/2", {}), asking("c/claude/2", {})];
  const asked: string[] = [];
  const { follower } = follow(async () => ({ patches: [], new_blocks: blocks, seq: 1 }), {
    asked: async ({ block_id }) => asked.push(block_id) > 0,
  });
  await follower.step(0);
  expect(asked).toEqual(["c/bob/1", "c/claude/2"]);
});

it("[U13] a result that ends before its call stands below the call's line, which is shown once", async () => {
  const home = mkdtempSync(join(tmpdir(), "blockyard-run-"));
  const kernel = new Kernel(nodeEnv, new MemoryStore("here"));
  const auth = new Auth(home, "ann", Date.now);
  const tools = new Tools(kernel, makeConfig({ env: {}, home, root: home }), () => undefined, auth);
  const conversation = await kernel.createConversation("ann", "run");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const write = async (plan: (draft: Draft) => Block | Problem) => {
    const made = await kernel.write(conversation, { agent: "claude", plan });
    if (isProblem(made)) throw new Error(made.message);
    return made.id;
  };
  const owner = { role: "owner", agent: "ann", by: "token" } as const;
  const { follower, seen } = follow((tool, input) => tools.call(owner, tool, input), {}, conversation);
  const named = { toolName: "Bash", toolUseId: "1", compactParams: "make" };
  const call = await write((draft) =>
    draft.create({
      ...{ kind: "tool_call", role: "model", status: "running", text: "{}" },
      metadata: { ...named, stage: "running" },
    }),
  );
  await follower.step(0);
  expect(seen.shown).toBe("");
  await write((draft) =>
    draft.create({
      ...{ kind: "command", role: "tool", status: "done", parent: call, side: true, text: "made\n" },
      metadata: { toolName: "Bash", toolUseId: "1", command: "make", exitCode: 0 },
    }),
  );
  await follower.step(0);
  expect(seen.shown).toBe("● $ make\n  made\n");
  await write((draft) => draft.status(call, "done", { stage: "end", success: true }));
  await follower.step(0);
  expect(seen.shown).toBe("● $ make\n  made\n");
  await tools.close();
  await tools.files.close();
  await kernel.close();
  rmSync(home, { recursive: true });
});

describe("[U13] a call that takes long", () => {
  const input = { command: "make" };
  const metadata = { toolName: "Bash", toolUseId: "1", input, compactParams: "make", stage: "running" };
  const call = { ...asking("c/codex/1", {}), metadata } as BlockSnapshot;
  const ended = (more: object = {}) => ({
    ...{ block_id: "c/codex/1", version: 2, seq: 2, pruned: false, splices: [], status: "done" },
    metadata: { ...metadata, stage: "end", success: true, ...more },
  });
  const output = {
    ...{ block_id: "c/codex/2", parent_id: "c/codex/1", kind: "command", role: "tool", side: true },
    ...{ status: "done", content: "made\n", version: 1 },
    metadata: { toolName: "Bash", toolUseId: "1", command: "make", exitCode: 0 },
  };
  const text = {
    ...{ block_id: "c/codex/3", parent_id: null, kind: "text", role: "model", side: false },
    ...{ status: "done", content: "Meanwhile.", version: 1, metadata: {} },
  };

  /** What is shown behind each of these, a second apart. */
  async function shownBehind(...news: object[]): Promise<readonly string[]> {
    let now = 0;
    const call = async () => ({ patches: [], new_blocks: [], seq: 1, ...news.shift() });
    const { follower, seen } = follow(call, { now: () => now });
    const pieces: string[] = [];
    while (news.length > 0) {
      await follower.step(0);
      pieces.push(seen.shown);
      seen.shown = "";
      now += 1_000;
    }
    return pieces;
  }

  it("is shown while it runs, and its output below it", async () => {
    const pieces = await shownBehind(
      { new_blocks: [call] },
      {},
      {},
      { patches: [ended()], new_blocks: [output] },
    );
    expect(pieces).toEqual(["", "● $ make\n", "", "  made\n"]);
  });

  it("is shown again where something stands between it and what came of it", async () => {
    const later = [{ new_blocks: [text] }, { patches: [ended()], new_blocks: [output] }];
    const pieces = await shownBehind({ new_blocks: [call] }, {}, ...later);
    expect(pieces.slice(1)).toEqual(["● $ make\n", "Meanwhile.\n\n", "● $ make\n  made\n"]);
  });

  it("says what came of it where that has no block of its own, and that it failed", async () => {
    const done = await shownBehind(
      { new_blocks: [call] },
      {},
      { patches: [ended({ shortResult: "12 files" })] },
    );
    expect(done.at(-1)).toBe("  12 files\n");
    const failed = { ...ended({ success: false, reason: "interrupted" }), status: "error" };
    expect((await shownBehind({ new_blocks: [call] }, {}, { patches: [failed] })).at(-1)).toBe(
      "  interrupted\n",
    );
  });

  it("is not shown before its request is answered", async () => {
    const ask = { id: "a", kind: "permission", state: "asked" };
    const asks = { ...call, metadata: { ...metadata, ask } };
    expect(await shownBehind({ new_blocks: [asks] }, {}, {})).toEqual(["", "", ""]);
  });
});

it.each<[string, object, object, string]>([
  [
    "a command of Codex, which names its shell",
    {
      toolName: "command_execution",
      input: { command: "/bin/bash -lc 'make all'" },
      shortResult: "made",
      success: true,
    },
    { kind: "command", content: "made\n", metadata: { command: "make all", exitCode: 0 } },
    "● $ make all\n  made\n",
  ],
  [
    "a command that failed",
    { toolName: "Bash", input: { command: "make" }, shortResult: "exit 2", success: false },
    { kind: "command", status: "error", content: "no\n", metadata: { command: "make", exitCode: 2 } },
    "● $ make · exit 2\n  no\n  exit 2\n",
  ],
  [
    "an edit that was denied",
    { toolName: "Edit", compactParams: "/srv/shop/a.ts", shortResult: "declined", reason: "denied" },
    {
      kind: "file_change",
      status: "error",
      content: "",
      metadata: { changes: [{ path: "/srv/shop/a.ts", kind: "modify" }] },
    },
    "● Edit a.ts · denied\n  modify a.ts\n",
  ],
])("[U13] the line of %s says what was run and how it ended, once", async (_, said, result, expected) => {
  const call = {
    ...asking("c/codex/1", {}),
    kind: "tool_call",
    role: "model",
    metadata: { toolUseId: "1", ...said },
  };
  const isBad = "reason" in said || ("success" in said && said.success === false);
  const ended = {
    block_id: "c/codex/1",
    version: 2,
    seq: 2,
    pruned: false,
    splices: [],
    status: isBad ? "error" : "done",
  };
  const below = {
    ...asking("c/codex/2", {}),
    parent_id: "c/codex/1",
    role: "tool",
    side: true,
    status: "done",
    ...result,
  };
  const news = [
    { patches: [], new_blocks: [{ ...call, status: "running" }], seq: 1 },
    { patches: [ended], new_blocks: [below], seq: 2 },
  ];
  const { follower, seen } = follow(async () => news.shift(), { folder: "/srv/shop" });
  await follower.step(0);
  await follower.step(0);
  expect(seen.shown).toBe(expected);
});

it("[U4] a text that is cut off is ended before anything else is said", async () => {
  const text = { block_id: "c/claude/1", kind: "text", role: "model", status: "running", metadata: {} };
  const news = { patches: [], new_blocks: [{ ...text, content: "I begin" }], seq: 1 };
  const { follower, seen } = follow(async () => news);
  await follower.step(0);
  await follower.endLine();
  await follower.endLine();
  expect(seen.shown).toBe("I begin\n");
});

it("[U97] [A42] below an answered plan stands the plan that was approved, and how it was answered, once", async () => {
  const ask = (state: string) => ({ id: "a", kind: "plan", state, plan: "c/claude/2", answeredBy: "ann" });
  const call = asking("c/claude/1", {});
  const named = { toolName: "ExitPlanMode", toolUseId: "1" };
  const plan = {
    ...{ block_id: "c/claude/2", parent_id: "c/claude/1", kind: "text", role: "model", side: true },
    ...{ status: "done", content: "1. Write", version: 1, metadata: {} },
  };
  const told = {
    ...plan,
    block_id: "c/claude/3",
    kind: "tool_result",
    role: "tool",
    content: "User has approved",
  };
  const patch = { version: 2, seq: 2, pruned: false, splices: [] };
  const news = [
    { patches: [], new_blocks: [{ ...call, metadata: { ...named, ask: ask("asked") } }, plan], seq: 1 },
    {
      patches: [
        { ...patch, block_id: "c/claude/1", status: "done", metadata: { ...named, ask: ask("allowed") } },
        {
          ...patch,
          block_id: "c/claude/2",
          status: "done",
          splices: [{ at: 8, delete_count: 0, insert: " it" }],
        },
      ],
      new_blocks: [told],
      seq: 2,
    },
  ];
  const asked: unknown[] = [];
  const { follower, seen } = follow(async (_, input) => asked.push(input) && news.shift(), {
    asked: async () => true,
  });
  await follower.step(0);
  expect(seen.shown).toBe("");
  await follower.step(0);
  expect(asked[1]).toMatchObject({ versions: [{ block_id: "c/claude/1" }, { block_id: "c/claude/2" }] });
  expect(seen.shown).toBe("● Plan · ann approved this plan\n1. Write it\n\n");
});

it("[U94] what is answered elsewhere need not be typed", async () => {
  const over = new AbortController();
  const keyboard = { input: new PassThrough(), output: new PassThrough(), interrupt: () => undefined };
  const answer = typed("Allow? ", { ...keyboard, signal: over.signal });
  over.abort();
  expect(await answer).toBeUndefined();
  expect(await typed("Allow? ", { ...keyboard, signal: over.signal })).toBeUndefined();
});

it.each<[string, string, string, string | undefined]>([
  ["that runs is answered elsewhere", "asked", "allowed", "ann allowed this"],
  ["that runs expires", "asked", "expired", "Not answered: the turn was stopped"],
  ["from before a restart is answered elsewhere", "expired", "allowed", "ann allowed this"],
  ["from before a restart has expired, and waits for its answer", "expired", "expired", undefined],
])("[U94] [U96] a request of a turn %s", async (_, before, now, words) => {
  const over = new AbortController();
  const ask = { id: "a", kind: "permission", answeredBy: "ann" };
  let looks = 0;
  const call = async () => {
    if (++looks === 2) over.abort();
    return { metadata: { ask: { ...ask, state: now }, reason: "cancelled" } };
  };
  const client = { call } as unknown as BlockSource;
  const state = before as "asked";
  expect(await watchAnswer(client, "c/codex/1", { id: "a", state }, over.signal)).toBe(words);
});

it.each<[string, string, string | undefined, number]>([
  ["a line", " use printf\r", "use printf", 0],
  ["Ctrl-C", "use\u0003", undefined, 1],
  ["Ctrl-D", "\u0004", "", 0],
])("[U13] asked for leave, somebody types %s", async (_, keys, said, interrupts) => {
  const input = new PassThrough();
  let interrupted = 0;
  const answer = typed("Allow? ", { input, output: new PassThrough(), interrupt: () => interrupted++ });
  input.write(keys);
  expect(await answer).toBe(said);
  expect(interrupted).toBe(interrupts);
});

it("[U97] what was typed before the question is no answer to it", async () => {
  const input = new PassThrough();
  const keyboard = { input, output: new PassThrough(), interrupt: () => undefined };
  expect(await forgetTyped(keyboard)).toBe(false);
  input.write("y\r");
  expect(await forgetTyped(keyboard)).toBe(true);
  const answer = typed("Allow? ", keyboard);
  input.write("n\r");
  expect(await answer).toBe("n");
});

it("[U97] Ctrl-C right before the question still stops", async () => {
  const input = new PassThrough();
  let interrupted = 0;
  input.write("\u0003");
  await forgetTyped({ input, output: new PassThrough(), interrupt: () => interrupted++ });
  expect(interrupted).toBe(1);
});

it.each([
  [0, 0, ""],
  [1, 0, "1 request was denied: the agent's work may be incomplete.\n"],
  [0, 1, "1 request was not answered: the agent's work may be incomplete.\n"],
  [2, 3, "2 requests were denied, 3 requests were not answered: the agent's work may be incomplete.\n"],
])(
  "[U13] after a turn with %d requests denied and %d not answered it says so",
  (denied, unanswered, words) => {
    expect(afterwards("k3vq2mz", { denied, unanswered, how: undefined })).toBe(
      `${words}blockyard show k3vq2mz`,
    );
  },
);

it.each([
  ["claude", "The agent reads it at its next step."],
  ["opencode", "The agent takes no messages while it works. It gets this one after the running turn."],
])("[U93] run --now says when %s reads the message", async (provider, words) => {
  const agents = [
    { provider: "claude", abilities: { steering: "step" } },
    { provider: "opencode", abilities: { steering: "turn" } },
  ];
  expect(await whenRead({ call: async () => ({ agents }) } as unknown as BlockSource, provider)).toBe(words);
});
