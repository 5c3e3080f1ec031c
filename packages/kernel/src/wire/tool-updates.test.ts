/** The lifecycle of tool calls as a client sees it, from blocks as they change. */
import { describe, expect, it } from "vitest";
import { type Block, blockOf, type LooseBlock, withMetadata } from "../model/block.ts";
import type { JsonObject } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import { type ToolResult, type ToolUpdate, ToolUpdates } from "./tool-updates.ts";

function block(fields: Partial<LooseBlock>, metadata: JsonObject = {}): Block {
  return blockOf({
    id: "c/model/1",
    conversation: "c",
    agent: "model",
    kind: "tool_call",
    role: "model",
    status: "running",
    parent: null,
    side: false,
    version: 1,
    seq: 1,
    born: 1,
    createdAt: 1,
    updatedAt: 1,
    chars: 0,
    newlines: 0,
    pruned: false,
    promoted: false,
    ...fields,
    metadata: { toolUseId: "t1", toolName: "Bash", ...metadata },
  });
}

const call = (metadata: JsonObject, status: Block["status"] = "running") => block({ status }, metadata);
const output = (text: string | undefined, status: Block["status"] = "running"): ToolResult => ({
  block: block({ id: "c/model/2", kind: "command", parent: "c/model/1", status, chars: text?.length ?? 9 }),
  text,
});

/** Each update, in short: stage, waiting, increments, result. */
const short = ({
  stage,
  waiting,
  parametersChunk,
  result,
  resultChunk,
  resultCut,
  success,
  late,
}: ToolUpdate) =>
  [
    stage,
    waiting && `waiting for ${waiting}`,
    parametersChunk && `in ${parametersChunk}`,
    resultChunk && `out ${resultChunk}`,
    result !== undefined && result.length < 100 && `result ${result}`,
    resultCut && `cut ${resultCut.block} ${resultCut.chars}`,
    success !== undefined && `success ${success}`,
    late && "late",
  ]
    .filter((word) => word)
    .join(", ");

function told(steps: readonly (readonly [Block, string | undefined, ToolResult?])[]): readonly string[] {
  const updates = new ToolUpdates();
  return steps.flatMap(([one, text, result]) => updates.update(one, text, () => result).map(short));
}

describe("tool updates", () => {
  it("[W30] a call that needs approval waits, and runs only when it has it", () => {
    const ask = { id: "a", kind: "permission", state: "asked" };
    const input = { command: "ls" };
    expect(
      told([
        [call({}), "{}"],
        [call({ input, ask, stage: "streaming" }), "{}"],
        [call({ input, ask, stage: "streaming" }), "{}"],
        [call({ input, ask: { id: "a", kind: "permission", state: "allowed" }, stage: "running" }), "{}"],
        [call({ input, stage: "end", success: true }, "done"), "{}", output("x", "done")],
      ]),
    ).toEqual([
      "start",
      "streaming, in {}",
      "streaming, waiting for approval",
      "running",
      "end, result x, success true",
    ]);
  });

  it("[W30] [K80] a call that asks after it was sent as running waits, and runs once more when it is allowed", () => {
    const input = { command: "ls" };
    const approval = (state: string) => ({ id: "a", state });
    expect(
      told([
        [call({ input, stage: "running" }), "{}"],
        [call({ input, stage: "running", approval: approval("asked") }), "{}"],
        [call({ input, stage: "running", approval: approval("allowed") }), "{}"],
        [call({ input, stage: "end", success: true }, "done"), "{}"],
      ]),
    ).toEqual([
      "start",
      "streaming, in {}",
      "running",
      "streaming, waiting for approval",
      "running",
      "end, success true",
    ]);
  });

  it("[W30] a call whose result is due waits for it and is no success before", () => {
    const waiting = { stage: "running", waiting: "result", input: {} };
    expect(
      told([
        [call(waiting), "{}"],
        [call({ stage: "end", input: {}, success: true }, "done"), "{}", output("42", "done")],
      ]),
    ).toEqual(["start", "streaming, in {}", "running, waiting for result", "end, result 42, success true"]);
  });

  it("[W31] output comes while it runs, as increments and, while it is short, as a whole", () => {
    const running = call({ stage: "running", input: {} });
    const long = "x".repeat(limits.liveResultChars + 1);
    expect(
      told([
        [running, "{}", output("a\n")],
        [running, "{}", output("a\nb\n")],
        [running, "{}", output(`a\nb\n${long}`)],
      ]).slice(2),
    ).toEqual([
      "running",
      "streaming, out a\n, result a\n",
      "streaming, out b\n, result a\nb\n",
      `streaming, out ${long}, cut c/model/2 ${long.length + 4}`,
    ]);
  });

  it("[W31] a command that is run again is a call of its own", () => {
    const again = { command: "ls", cwd: "/w", notice: "rerun" };
    const run = (status: Block["status"]) =>
      withMetadata(block({ kind: "command", parent: "c/model/1", status }), again);
    const updates = new ToolUpdates();
    const said = [
      ...updates.update(run("running"), "", () => undefined),
      ...updates.update(run("running"), "a\n", () => undefined),
      ...updates.update(run("done"), "a\n", () => undefined),
    ];
    expect(said.map(short)).toEqual([
      "start",
      'streaming, in {"command":"ls","cwd":"/w"}',
      "running",
      "streaming, out a\n, result a\n",
      "end, result a\n, success true",
    ]);
    expect(said.at(-1)).toMatchObject({
      id: "c/model/1",
      name: "bash",
      parameters: '{"command":"ls","cwd":"/w"}',
    });
  });

  it("[W32] a result that the copy lacks is marked as cut, with its source", () => {
    const done = call({ stage: "end", input: {}, success: true }, "done");
    expect(told([[done, undefined, output(undefined, "done")]])).toEqual([
      "start",
      "end, cut c/model/2 9, success true",
    ]);
  });

  it("[W32] a result that is attached after the end is sent once, marked as late", () => {
    const done = call({ stage: "end", input: {}, success: true }, "done");
    expect(
      told([
        [done, "{}"],
        [done, "{}", output("x")],
        [done, "{}", output("xy", "done")],
        [done, "{}", output("xy", "done")],
      ]),
    ).toEqual(["start", "end, success true", "end, result xy, success true, late"]);
  });

  it("[W32] a second call with a used id has a start and an id of its own", () => {
    const updates = new ToolUpdates();
    const ids = ["c/model/1", "c/model/7", "c/model/7"].flatMap((id) =>
      updates.update(block({ id }), "", () => undefined).map(({ id: told, stage }) => `${told} ${stage}`),
    );
    expect(ids).toEqual(["t1 start", "t1#2 start"]);
  });

  it("[W32] [K71] a call that its agent continues after its end is sent as late: it has one end", () => {
    const cut = call({ stage: "end", reason: "interrupted" }, "error");
    expect(
      told([
        [cut, "{}"],
        [call({ stage: "running" }), "{}"],
        [call({ stage: "end", success: true }, "done"), "{}"],
      ]),
    ).toEqual(["start", "end, success false", "running, late", "end, success true, late"]);
  });
});
