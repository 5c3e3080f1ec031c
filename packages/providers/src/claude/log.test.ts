/** The importer: compared with the streams of the same runs, and on handmade logs. */
import type { JsonObject } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { brief } from "../../../../test/claude-lines.ts";
import { bytesOf, logFilesOf, logs, type Recording, streams } from "../../../../test/recordings.ts";
import { type Folded, type FoldedBlock, fold } from "../fold.ts";
import { logFile } from "../log.ts";
import { normalize } from "../normalize.ts";
import { providers } from "../registry.ts";
import { findClaudeLogs, importClaudeLog } from "./log.ts";
import { leftBranches } from "./log-branch.ts";

const claude = providers.get("claude")!;
const own = logs.filter(({ provider }) => provider === "claude");

type Record = { readonly [key: string]: unknown };

function importRecords(
  records: readonly Record[],
  sidecars: { readonly [path: string]: readonly Record[] | string } = {},
): Folded {
  const write = (lines: readonly Record[]) => lines.map((line) => JSON.stringify(line)).join("\n");
  const files = Object.entries(sidecars).map(([path, lines]) =>
    logFile(path, typeof lines === "string" ? lines : write(lines)),
  );
  const folded = fold(importClaudeLog({ main: logFile("s.jsonl", write(records)), sidecars: files }, "run"));
  expect(folded.faults).toEqual([]);
  return folded;
}

let clock = 0;
const at = () => new Date(1_700_000_000_000 + clock++ * 1000).toISOString();

function prompt(uuid: string, content: unknown, extra: Record = {}): Record {
  return {
    type: "user",
    uuid,
    message: { role: "user", content },
    sessionId: "s",
    version: "2",
    cwd: "/w",
    timestamp: at(),
    ...extra,
  };
}

function answer(uuid: string, id: string, block: Record, extra: Record = {}): Record {
  const usage = { input_tokens: 5, output_tokens: 7 };
  return {
    type: "assistant",
    uuid,
    message: { id, model: "m", content: [block], usage },
    sessionId: "s",
    timestamp: at(),
    ...extra,
  };
}

const said = (text: string) => ({ type: "text", text });
const agentCall = (id: string, ask: string) => ({
  type: "tool_use",
  id,
  name: "Task",
  input: { description: "d", prompt: ask },
});
const replyTo = (uuid: string, id: string, content: unknown, extra: Record = {}) =>
  prompt(uuid, [{ type: "tool_result", tool_use_id: id, content }], extra);

describe("a log and the stream of the same run", () => {
  /** Stream of the same scenario and version. */
  function streamOf(log: Recording): Recording | undefined {
    const scenario = log.name.replace("claude-sessions", "claude").replace(/\/[^/]+\.jsonl$/, "");
    return streams.find(({ name }) => name === `${scenario}.jsonl` || name === `${scenario}.json`);
  }

  /** Notices that only one side has, or words differently. */
  const ONE_SIDED = new Set([
    "retry",
    "control_error",
    "tool_summary",
    "prompt_suggestion",
    "reset",
    "local_command",
  ]);

  function comparable(block: FoldedBlock): object {
    const {
      displayName: _name,
      estimatedTokens: _tokens,
      index: _index,
      durationMs: _ms,
      ...metadata
    } = block.metadata;
    return { ...block, id: /\/[ln]:/.test(block.id) ? "" : block.id, metadata };
  }

  /** What both must have. A set: sub-agents' lines have another place in the order. */
  function sharedBlocks(
    folded: Folded,
    isLog: boolean,
    isSubAgentText: (block: FoldedBlock) => boolean,
  ): Set<string> {
    const kept = folded.blocks.filter((block) => {
      if (block.role === "user" && block.parent === null && isLog) return false;
      if (block.metadata.reason === "retracted" || ONE_SIDED.has(String(block.metadata.notice))) return false;
      return !isSubAgentText(block);
    });
    return new Set(
      kept.map((block) => JSON.stringify(comparable(block), Object.keys(flat(comparable(block))).sort())),
    );
  }

  /** Every key at every depth, so that the order of keys does not matter. */
  function flat(value: unknown, keys: { [key: string]: true } = {}): { [key: string]: true } {
    if (typeof value !== "object" || value === null) return keys;
    for (const [key, inner] of Object.entries(value)) {
      keys[key] = true;
      flat(inner, keys);
    }
    return keys;
  }

  /** Scenarios where one side lacks more, and why. */
  const APART: { readonly [scenario: string]: string } = {
    "bash-background-stop": "the log does not tell that a task was stopped",
    "bash-long-output": "the log has the whole outputs",
    "max-budget": "only the stream says why the last call did not run",
    "image-input": "the prompt is replayed in the stream",
    "slash-context-usage": "slash commands are the CLI's own, and the second log is another conversation",
    resume: "the log holds three runs",
    "1.0.128/bash": "the stream of this version has no payloads",
    "1.0.128/subagent": "the stream of this version has no payloads",
    "2.0.76/max-turns": "this version does not log its limit",
    "2.1.50/max-turns": "this version does not log its limit",
    "2.0.76/sigint-streaming": "this version logs nothing of a run that is cut",
    "2.1.50/sigint-streaming": "this version logs nothing of a run that is cut",
  };

  const pairs = own.flatMap((log) => {
    const stream = streamOf(log);
    const scenario = log.name.split("/").slice(1, -1).join("/");
    return stream === undefined || scenario in APART ? [] : [[scenario, log, stream] as const];
  });

  it("[C39] most runs are recorded on both sides", () => {
    expect(pairs.length).toBeGreaterThan(70);
  });

  it.each(pairs)("[C39] %s", (_, log, stream) => {
    const logged = fold(importClaudeLog(logFilesOf(log), "run"));
    const streamed = normalize(claude, [bytesOf(stream)]);
    const known = new Set(streamed.blocks.map((block) => block.id));
    // Without --forward-subagent-text the stream omits a sub-agent's text.
    const isSubAgentText = (block: FoldedBlock) =>
      block.parent !== null && block.id.includes("/m:") && !known.has(block.id);
    expect(sharedBlocks(logged, true, isSubAgentText)).toEqual(sharedBlocks(streamed, false, isSubAgentText));
  });
});

describe("identity", () => {
  it.each(own.map((recording) => [recording.name, recording] as const))(
    "[C35] %s twice is the same",
    (_, recording) => {
      const files = logFilesOf(recording);
      expect(importClaudeLog(files, "run")).toEqual(importClaudeLog(files, "run"));
    },
  );

  it("[C35] a longer log names the same blocks, and more", () => {
    const records = [
      prompt("u1", "One"),
      answer("a1", "m1", said("First.")),
      prompt("u2", "Two"),
      answer("a2", "m2", said("Second.")),
    ];
    const short = importRecords(records.slice(0, 2)).blocks.map((block) => block.id);
    const long = importRecords(records).blocks.map((block) => block.id);
    expect(long.slice(0, short.length)).toEqual(short);
    expect(long).toHaveLength(4);
  });

  it("[C35] a fork that repeats records names them alike, and a record counts once", () => {
    const records = [prompt("u1", "One"), answer("a1", "m1", said("First."))];
    const fork = [...records.map((record) => ({ ...record, sessionId: "fork" })), prompt("u2", "Two")];
    const first = importRecords([...records, ...records]).blocks.map((block) => block.id);
    expect(
      importRecords(fork)
        .blocks.map((block) => block.id)
        .slice(0, 2),
    ).toEqual(first);
  });
});

describe("what belongs to the conversation", () => {
  it("[C36] bookkeeping, attachments and meta records are left out", () => {
    const quiet = [
      { type: "queue-operation", operation: "enqueue", content: "One" },
      { type: "last-prompt", lastPrompt: "One" },
      { type: "new-bookkeeping", value: 1 },
      { type: "file-history-snapshot", uuid: "f" },
      { type: "progress", uuid: "p", data: { type: "hook_progress" } },
      { type: "attachment", uuid: "x", attachment: { type: "date", date: "2026-01-01" } },
      prompt("c", "<local-command-caveat>…</local-command-caveat>", { isMeta: true }),
      prompt("i", "[Image: source: /tmp/1.png]", { isMeta: true, turnCompanion: true }),
    ];
    expect(importRecords(quiet).blocks).toEqual([]);
  });

  it("[C36] keeps what the stream shows too, and messages typed meanwhile", () => {
    const records = [
      prompt("u1", "One"),
      prompt("s1", "Resume directly", { isMeta: true, turnCompanion: true }),
      { type: "attachment", uuid: "q1", attachment: { type: "queued_command", prompt: "And quickly" } },
      prompt("z1", "This session is being continued from a previous conversation …", {
        isCompactSummary: true,
      }),
      { type: "new_kind", uuid: "n1", text: "?" },
    ];
    expect(importRecords(records).blocks.map(brief)).toEqual([
      'text user done "One"',
      'text system done synthetic "Resume directly"',
      'text user done "And quickly"',
      'text system done compaction "This session is being continued from a previous conversation …"',
      expect.stringMatching(/^unknown system done/),
    ]);
  });

  it("[C36] titles name the session", () => {
    const { sessions } = importRecords([
      prompt("u1", "One"),
      { type: "summary", summary: "A talk", leafUuid: "u1" },
    ]);
    expect(sessions.map((session) => session.title)).toEqual([undefined, "A talk"]);
  });
});

describe("sub-agents", () => {
  const main = (result: Record = {}) => [
    prompt("u1", "Go"),
    answer("a1", "m1", agentCall("t1", "Count")),
    replyTo("r1", "t1", "Two.", { toolUseResult: result }),
  ];
  const inner = [
    prompt("b1", "Count", { agentId: "x" }),
    answer("b2", "m2", said("Counting.")),
    answer("b3", "m3", said("Two.")),
  ].map((record) => ({ ...record, isSidechain: true }));
  const below = (folded: Folded) =>
    folded.blocks.filter((block) => block.parent === "run/c:t1").map((block) => block.text);

  it("[C37] by their meta file, by the agent's id, by the prompt", () => {
    const metas = {
      "s/subagents/agent-x.jsonl": inner,
      "s/subagents/agent-x.meta.json": '{"toolUseId":"t1"}',
    };
    expect(below(importRecords(main(), metas))).toEqual(["Count", "Counting.", "Two.", "Two."]);
    const byId = {
      "agent-x.jsonl": [{ ...inner[0], message: { content: "Other words" } }, ...inner.slice(1)],
    };
    expect(below(importRecords(main({ agentId: "x", status: "completed" }), byId))[0]).toBe("Other words");
    expect(below(importRecords(main(), { "agent-x.jsonl": inner }))).toHaveLength(4);
  });

  it("[C37] inside the session's own file", () => {
    const [first, ...rest] = inner.map((record, i) => ({ ...record, parentUuid: i === 0 ? null : `b${i}` }));
    const records = [...main().slice(0, 2), first!, ...rest, ...main().slice(2)];
    expect(below(importRecords(records))).toEqual(["Count", "Counting.", "Two.", "Two."]);
  });

  it("[C37] an agent inside an agent, warm-up agents, and those of other sessions", () => {
    const nested = [
      ...inner.slice(0, 1),
      answer("b4", "m4", agentCall("t2", "Deeper"), { isSidechain: true }),
    ];
    const sidecars = {
      "s/subagents/agent-x.jsonl": nested,
      "s/subagents/agent-y.jsonl": [prompt("d1", "Deeper"), answer("d2", "m5", said("Deep."))],
      "s/subagents/agent-w.jsonl": [prompt("w1", "Warmup"), answer("w2", "m6", said("ok"))],
      "agent-o.jsonl": [prompt("o1", "Elsewhere", { sessionId: "other" })],
    };
    const { blocks } = importRecords(main(), sidecars);
    expect(blocks.find((block) => block.text === "Deep.")?.parent).toBe("run/c:t2");
    expect(blocks.some((block) => ["Warmup", "ok", "Elsewhere"].includes(block.text))).toBe(false);
  });

  it("[C33] a task is shown below the call that started it, also by its own name alone", () => {
    const monitor = { type: "tool_use", id: "t1", name: "Monitor", input: { description: "Ticks" } };
    const told =
      "<task-notification>\n<task-id>k1</task-id>\n<summary>Monitor event</summary>\n<event>tick 1</event>\n</task-notification>";
    const records = [
      prompt("u1", "Go"),
      answer("a1", "m1", monitor),
      replyTo("r1", "t1", "Started", { toolUseResult: { taskId: "k1" } }),
      prompt("n1", told),
    ];
    expect(importRecords(records).blocks.at(-1)).toMatchObject({
      parent: "run/c:t1",
      text: "Monitor event\n\ntick 1",
    });
  });

  it("[C38] whole outputs come from tool-results", () => {
    const bash = { type: "tool_use", id: "t1", name: "Bash", input: { command: "seq" } };
    const toolUseResult = {
      stdout: "1\n",
      persistedOutputPath: "/home/x/s/tool-results/b1.txt",
      persistedOutputSize: 4,
    };
    const records = [
      prompt("u1", "Go"),
      answer("a1", "m1", bash),
      replyTo("r1", "t1", "<persisted-output>…", { toolUseResult }),
    ];
    const [, , command] = importRecords(records, { "s/tool-results/b1.txt": "1\n2\n" }).blocks;
    expect([command?.text, command?.metadata.truncatedChars]).toEqual(["1\n2\n", undefined]);
  });
});

it("[C19] a command that failed in 1.0 is a command, though its payload is the error alone", () => {
  const bash = { type: "tool_use", id: "t1", name: "Bash", input: { command: "x" } };
  const content = [{ type: "tool_result", tool_use_id: "t1", content: "err\n\nout", is_error: true }];
  for (const [version, kind] of [
    ["1.0.128", "command"],
    ["2.1.325", "tool_result"],
  ] as const) {
    const records = [
      prompt("u1", "Go", { version }),
      answer("a1", "m1", bash),
      prompt("r1", content, { version, toolUseResult: "Error: err\n\nout" }),
    ];
    expect(importRecords(records).blocks.at(-1)).toMatchObject({ kind, text: "err\n\nout", status: "error" });
  }
});

describe("branches", () => {
  const chain = (uuid: string, parentUuid: string | null, extra: Record = {}) => ({
    ...prompt(uuid, uuid),
    parentUuid,
    ...extra,
  });

  it("[C40] a branch that was left is marked", () => {
    const records = [
      chain("one", null),
      { ...answer("a1", "m1", said("First.")), parentUuid: "one" },
      chain("old", "a1"),
      { ...answer("a2", "m2", said("Left.")), parentUuid: "old" },
      chain("new", "a1"),
      { ...answer("a3", "m3", said("Kept.")), parentUuid: "new" },
    ];
    const marked = importRecords(records).blocks.map((block) => [
      block.text,
      (block.metadata.extra as JsonObject | undefined)?.branch,
    ]);
    expect(marked).toEqual([
      ["one", undefined],
      ["First.", undefined],
      ["old", "left"],
      ["Left.", "left"],
      ["new", undefined],
      ["Kept.", undefined],
    ]);
  });

  it("[C40] results of parallel calls are no branch, nor are blocks before a compaction", () => {
    const isPrompt = (record: JsonObject) => record.prompt === true;
    const records = [
      { uuid: "p", type: "user", prompt: true },
      { uuid: "c1", type: "assistant", parentUuid: "p" },
      { uuid: "c2", type: "assistant", parentUuid: "c1" },
      { uuid: "r1", type: "user", parentUuid: "c1" },
      { uuid: "r2", type: "user", parentUuid: "c2" },
      { uuid: "z", type: "system", parentUuid: null, logicalParentUuid: "r2" },
      { uuid: "q", type: "user", prompt: true, parentUuid: "z" },
    ] as unknown as JsonObject[];
    expect([...leftBranches(records, isPrompt)]).toEqual([]);
  });
});

describe("turns", () => {
  const cost = (totalCostUSD: number) => ({ type: "cost-state", totalCostUSD });

  it("[C41] usage once per message, cost if it is stated for one turn", () => {
    const records = [
      prompt("u1", "One"),
      answer("a1", "m1", said("a")),
      answer("a2", "m1", said("b")),
      cost(2),
      prompt("u2", "Two"),
      answer("a3", "m2", said("c")),
      cost(5),
      prompt("u3", "Three"),
      prompt("u4", "Four"),
      answer("a4", "m3", said("d")),
      cost(9),
    ];
    expect(
      importRecords(records).turns.map(({ turn, costUsd, usage }) => [turn, costUsd, usage?.output]),
    ).toEqual([
      ["run/turn-u1", 2, 7],
      ["run/turn-u2", 3, 7],
      ["run/turn-u3", undefined, undefined],
      ["run/turn-u4", undefined, 7],
    ]);
  });

  it("[C41] how a turn ended", () => {
    const failed = { isApiErrorMessage: true, error: "overloaded" };
    const records = [
      prompt("u1", "One"),
      answer("a1", "m1", said("API Error"), failed),
      prompt("u2", "Two"),
      answer("a2", "m2", said("half"), { isAbortedMidStream: true }),
      prompt("i2", [said("[Request interrupted by user]")]),
      prompt("u3", "Three"),
      { type: "attachment", uuid: "l3", attachment: { type: "max_turns_reached", maxTurns: 2 } },
      prompt("u4", "Four"),
      answer("a4", "m4", { type: "tool_use", id: "t4", name: "Bash", input: {} }),
    ];
    const { turns, blocks } = importRecords(records);
    expect(turns.map(({ status, reason }) => [status, reason])).toEqual([
      ["error", "failed"],
      ["error", "interrupted"],
      ["error", "truncated"],
      ["done", undefined],
    ]);
    expect(blocks.find((block) => block.kind === "tool_call")?.metadata.reason).toBe("interrupted");
    expect(blocks.find((block) => block.metadata.code === "error_max_turns")?.text).toBe(
      "Reached maximum number of turns (2)",
    );
  });
});

it("[C42] sessions are found with their files", () => {
  const tree: { readonly [folder: string]: readonly string[] } = {
    projects: ["-w/"],
    "projects/-w": ["s.jsonl", "agent-a1.jsonl", "s/", "notes.txt"],
    "projects/-w/s": ["subagents/", "tool-results/"],
    "projects/-w/s/subagents": ["agent-x.jsonl", "agent-x.meta.json"],
    "projects/-w/s/tool-results": ["b.txt"],
  };
  const list = (path: string) =>
    (tree[path] ?? []).map((name) => ({ name: name.replace("/", ""), isFolder: name.endsWith("/") }));
  expect(findClaudeLogs(list)).toEqual([
    {
      provider: "claude",
      path: "projects/-w/s.jsonl",
      sidecars: [
        "projects/-w/agent-a1.jsonl",
        "projects/-w/s/subagents/agent-x.jsonl",
        "projects/-w/s/subagents/agent-x.meta.json",
        "projects/-w/s/tool-results/b.txt",
      ],
    },
  ]);
});

it("[P7] a log that ends in a retry outside of a turn leaves nothing open", () => {
  const failed = { type: "system", subtype: "api_error", uuid: "e", retryAttempt: 1, timestamp: at() };
  const folded = importRecords([failed]);
  expect(folded.blocks).toMatchObject([{ status: "done", metadata: { notice: "retry" } }]);
});
