/**
 * One run of Claude Code, read as both directions of its control protocol and as the plain stream that it printed,
 * makes the same blocks. Differences are listed here, each with its reason; everything else has to be equal.
 */
import type { Json, JsonObject } from "@blockyard/kernel";
import { expect, it } from "vitest";
import { bytesOf, type Recording, streams } from "../../../../test/recordings.ts";
import { type FoldedBlock, fold } from "../fold.ts";
import { Normalizer, normalize } from "../normalize.ts";
import { type Provider, providers } from "../registry.ts";

const control = providers.get("claude-control") as Provider;
const plain = providers.get("claude") as Provider;
const own = streams.filter(({ provider }) => provider === "claude-control");
const named = own.map((recording) => [recording.name, recording] as const);

function recordsOf(recording: Recording): JsonObject[] {
  const text = new TextDecoder().decode(bytesOf(recording));
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as JsonObject);
}

/** Runs of one process, since a plain stream has no more. */
const single = own.filter((recording) => recordsOf(recording).every(({ run }) => run === undefined));

it.each(single.map((recording) => [recording.name, recording] as const))(
  "[C61] %s is the same as its plain stream",
  (_, recording) => {
    const printed = recordsOf(recording).filter(({ dir, line }) => dir === "out" && isJson(String(line)));
    const lines = printed.map(({ line }) => String(line));
    const left = normalize(plain, [new TextEncoder().encode(lines.join("\n"))]);
    const right = normalize(control, [bytesOf(recording)]);
    expect(right.blocks.filter(isShared).map(shared)).toEqual(left.blocks.filter(isShared).map(shared));
    expect(right.turns).toEqual(left.turns);
    expect(right.messages).toEqual(left.messages);
  },
);

/** What only one of the two says. */
function isShared({ role, kind, metadata }: FoldedBlock): boolean {
  // Host input is in no stream of the CLI; if it is repeated there, both have it, once.
  if (role === "user") return false;
  // Words on stderr and lines that are no JSON are no part of the stream.
  if (metadata.code === "exit" || metadata.notice === "output") return false;
  // Whether a refused request of the host matters is known where the request is.
  return !(kind === "text" && metadata.notice === "control_error");
}

function shared({ kind, role, status, text, metadata, parent }: FoldedBlock) {
  const { ask, extra: _extra, ...rest } = metadata;
  // The answer itself is the host's: a stream shows at most that the call continued.
  const { id, kind: asked, input, subject, questions, suggestions, form } = (ask ?? {}) as JsonObject;
  const isPlan = asked === "plan";
  const shown = ask === undefined ? {} : { ask: { id, asked, input, subject, questions, suggestions, form } };
  // A form whose answer is not seen ends with its turn.
  const end = asked === "elicitation" ? {} : { status };
  const { reason: _reason, ...told } = rest as JsonObject;
  const metadataShown = asked === "elicitation" ? told : rest;
  return {
    kind,
    role,
    text,
    ...end,
    isPlan,
    nested: parent !== null,
    metadata: { ...metadataShown, ...shown },
  };
}

function isJson(line: string): boolean {
  try {
    JSON.parse(line);
    return true;
  } catch {
    return false;
  }
}

it.each(named)("[C62] %s: nothing is unknown, nothing stays open", (_, recording) => {
  const folded = normalize(control, [bytesOf(recording)]);
  expect(folded.unknown).toEqual({});
  expect(folded.faults).toEqual([]);
  expect([...folded.asks.values()]).not.toContain("asked");
  expect(folded.blocks.filter(({ status }) => status !== "done" && status !== "error")).toEqual([]);
  expect(folded.turns.filter(({ status }) => status === "running")).toEqual([]);
});

/** Texts of the blocks, a message of the user marked. */
function spoken(name: string): string[] {
  const recording = own.find((each) => each.name === `claude-control/${name}.jsonl`);
  if (recording === undefined) throw new Error(`no recording ${name}`);
  return normalize(control, [bytesOf(recording)])
    .blocks.filter(({ parent }) => parent === null)
    .map(({ kind, role, status, text, metadata }) => {
      if (kind === "tool_call") return String(metadata["toolName"]);
      return role === "user" ? `${status === "error" ? "unread" : "user"}: ${text}` : text;
    });
}

it.each([
  [
    "t5-steering/tool-default",
    ["user: Do it.", "Starting. ", "Bash", "user: Also say hi.", "After the tool."],
  ],
  [
    "t5-steering/tool-cancel-queued",
    ["user: Do it.", "Starting. ", "Bash", "unread: Second.", "user: Third.", "After the tool."],
  ],
  [
    "t7-sessions/killed-with-queue",
    ["user: Go.", "Working. ", "Bash", "unread: Queued and lost?", "user: Go on.", "After."],
  ],
])("[C63] %s: a message is placed where the agent has read it", (name, expected) => {
  expect(spoken(name)).toEqual(expected);
});

it("[C63] a message with a repeated id is dropped, as the CLI drops it; one that is repeated to the host exists once", () => {
  expect(spoken("t8-flags/replay").filter((text) => text.startsWith("user: "))).toEqual([
    "user: With a uuid.",
    "user: Without one.",
  ]);
});

it.each([
  ["at the end", []],
  ["when the next one starts", [{ dir: "start", line: "" }]],
])("[C62] a process's output after its end is closed %s", (_, after) => {
  const said = { type: "control_request", request_id: "r", request: { subtype: "can_use_tool" } };
  const records = [{ dir: "exit", line: '{"code":0}' }, { dir: "out", line: JSON.stringify(said) }, ...after];
  const bytes = new TextEncoder().encode(records.map((record) => `${JSON.stringify(record)}\n`).join(""));
  const folded = normalize(control, [bytes]);
  expect(folded.blocks.map(({ kind, status }) => [kind, status])).toEqual([["tool_call", "error"]]);
  expect([...folded.asks.values()]).toEqual(["expired"]);
  expect(folded.turns).toMatchObject([{ status: "error" }]);
});

it.each<[string, Json]>([
  ["an answer to nothing", { dir: "in", line: '{"type":"control_response","response":{"request_id":"x"}}' }],
  ["a line that is no JSON", { dir: "in", line: "nonsense" }],
  ["a message without a role", { dir: "in", line: '{"type":"user","message":{"content":"x"}}' }],
  ["a record of another kind", { dir: "api", line: "{}" }],
  ["no record", { dir: 3 }],
])("[C61] %s says nothing", (_, record) => {
  const normalizer = new Normalizer(control);
  const bytes = new TextEncoder().encode(`${JSON.stringify(record)}\n`);
  const { blocks } = fold([...normalizer.push(bytes), ...normalizer.end()]);
  expect(blocks.filter(({ kind }) => kind !== "unknown")).toEqual([]);
});
