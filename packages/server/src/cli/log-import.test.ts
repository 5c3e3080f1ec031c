/** Session logs as found on a disk: odd ones do not stop other imports. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ConversationId,
  Ingest,
  isProblem,
  type Json,
  type JsonObject,
  Kernel,
  limits,
  MemoryStore,
  typedCalls,
} from "@blockyard/kernel";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Auth } from "../access/auth.ts";
import { Tools } from "../app/tool-table.ts";
import { makeConfig } from "../config/config.ts";
import { rawRuns } from "../export/raw-runs.ts";
import { importStream } from "../import/import-stream.ts";
import { findSessions } from "../import/session-logs.ts";
import { nodeEnv } from "../system/env.ts";
import type { BlockSource } from "./block-source.ts";
import { importLog, KnownSessions } from "./log-import.ts";

const owner = { role: "owner", agent: "ada", by: "token" } as const;
const NOW = 1_800_000_000_000;

let home: string;
let kernel: Kernel;
let tools: Tools;
let client: Pick<BlockSource, "call" | "import">;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "blockyard-logs-"));
  kernel = new Kernel(nodeEnv, new MemoryStore("here"));
  const auth = new Auth(home, "ada", () => NOW);
  tools = new Tools(kernel, makeConfig({ env: {}, home, root: home }), () => undefined, auth);
  client = {
    call: typedCalls((tool, input) => tools.call(owner, tool, input)),
    import: (body) => importStream(kernel, owner, body),
  };
});

afterEach(async () => {
  await tools.close();
  await tools.files.close();
  await kernel.close();
  rmSync(home, { recursive: true });
});

function put(path: string, ...lines: readonly (Json | Uint8Array)[]): string {
  const file = join(home, path);
  mkdirSync(join(file, ".."), { recursive: true });
  const bytes = lines.map((line) => (line instanceof Uint8Array ? line : `${JSON.stringify(line)}\n`));
  writeFileSync(file, Buffer.concat(bytes.map((each) => Buffer.from(each as Uint8Array))));
  utimesSync(file, 1_790_000_000, 1_790_000_000);
  return file;
}

const said = (id: number, text: string): Json => ({
  ...{ type: "user", uuid: `00000000-0000-4000-8000-00000000000${id}`, parentUuid: null, isSidechain: false },
  ...{ sessionId: "s", timestamp: "2026-09-01T00:00:00.000Z", message: { role: "user", content: text } },
});

const sessions = () => findSessions({ env: { CLAUDE_CONFIG_DIR: home, CODEX_HOME: home } });
const options = { now: NOW, isFollowed: false };

async function outcomes(found = sessions()): Promise<readonly string[]> {
  const known = await KnownSessions.read(client as BlockSource);
  const types: string[] = [];
  for (const log of found) types.push((await importLog(client as BlockSource, known, log, options)).type);
  return types;
}

it("[U11] a log that cannot be read fails alone", async () => {
  put("projects/p/a.jsonl", said(1, "hello"));
  const gone = put("projects/p/b.jsonl", said(2, "gone"));
  const found = sessions().toSorted((one, other) => (one.name < other.name ? 1 : -1));
  rmSync(gone);
  expect(await outcomes(found)).toEqual(["failed", "imported"]);
});

it("[U11] anything but a plain file blocks nobody", async () => {
  const day = "sessions/2026/09/01/rollout-2026-09-01T00-00-00-";
  put(`${day}00000000-0000-4000-8000-000000000001.jsonl`, {
    ...{ type: "session_meta", timestamp: "2026-09-01T00:00:00.000Z" },
    payload: { id: "00000000-0000-4000-8000-000000000001", cwd: "/w", cli_version: "0.1" },
  });
  spawnSync("mkfifo", [join(home, `${day}00000000-0000-4000-8000-000000000002.jsonl`)]);
  mkdirSync(join(home, `${day}00000000-0000-4000-8000-000000000003.jsonl`));
  expect(sessions()).toHaveLength(1);
});

it("[U62] a session that a conversation had before its present one is here too", async () => {
  const conversation = await kernel.createConversation("ann", "forked");
  if (isProblem(conversation)) throw new Error(conversation.message);
  const claude = (sessionId: string) => [{ type: "session", provider: "claude", sessionId } as const];
  // It resumes one, which then is no longer only a past one.
  for (const session of ["a", "b", "a", "c"]) {
    const ingest = new Ingest(kernel, { conversation, agent: "claude" });
    expect(await ingest.push(claude(session))).toBeUndefined();
    expect(await ingest.finish()).toBeUndefined();
  }
  for (const name of ["a", "b", "c", "d"])
    put(`projects/p/${name}.jsonl`, { ...(said(1, name) as JsonObject), sessionId: name });
  const found = sessions().toSorted((one, other) => one.name.localeCompare(other.name));
  expect(await outcomes(found)).toEqual(["here", "here", "here", "imported"]);
});

it("[U11] a session with which an imported conversation was continued here is not imported again", async () => {
  put("projects/p/a.jsonl", { ...(said(1, "a") as JsonObject), sessionId: "a" });
  expect(await outcomes()).toEqual(["imported"]);
  const [log] = sessions();
  if (!log) throw new Error("no session");
  const conversation = (await KnownSessions.read(client as BlockSource)).idOf(log);
  const ingest = new Ingest(kernel, { conversation: conversation as ConversationId, agent: "claude" });
  await ingest.push([{ type: "session", provider: "claude", sessionId: "b" }]);
  await ingest.finish();
  put("projects/p/b.jsonl", { ...(said(2, "b") as JsonObject), sessionId: "b" });
  put("projects/p/a.jsonl", { ...(said(1, "a") as JsonObject), sessionId: "a" }, said(3, "more"));
  const found = sessions().toSorted((one, other) => one.name.localeCompare(other.name));
  expect(await outcomes(found)).toEqual(["imported", "here"]);
  // An ingested stream of the session is not one: its log adds its content.
  const known = await KnownSessions.read(client as BlockSource);
  expect([known.conversationOf("claude", "a"), known.conversationOf("claude", "b")]).toEqual([
    undefined,
    conversation,
  ]);
});

it("[U11] a log without messages makes no conversation until there are some", async () => {
  put("projects/p/a.jsonl", { type: "summary", summary: "Of another", leafUuid: "x" });
  put("projects/p/b.jsonl");
  expect(await outcomes()).toEqual(["empty", "empty"]);
  expect(await client.call("conversation.list", {})).toMatchObject({ conversations: [] });
  put("projects/p/b.jsonl", said(1, "hello"));
  expect((await outcomes()).toSorted()).toEqual(["empty", "imported"]);
});

it("[E9] invalid bytes are stored unchanged, and the text after them too", async () => {
  const broken = Buffer.concat([
    Buffer.from('{"type":"x","y":"'),
    Buffer.from([0xff, 0xfe]),
    Buffer.from('"}\n'),
  ]);
  put("projects/p/a.jsonl", broken, said(1, "hello"));
  await outcomes();
  put("projects/p/a.jsonl", broken, said(1, "hello"), said(2, "again"));
  await outcomes();
  const [log] = sessions();
  const id = (await KnownSessions.read(client as BlockSource)).idOf(log as NonNullable<typeof log>) ?? "";
  const kept: Uint8Array[] = [];
  for await (const bytes of rawRuns(kernel.store, id)) kept.push(bytes);
  const whole = Buffer.concat([
    broken,
    ...[said(1, "hello"), said(2, "again")].map((each) => Buffer.from(`${JSON.stringify(each)}\n`)),
  ]);
  expect(Buffer.concat(kept).equals(whole)).toBe(true);
});

it("[E21] imported by three commands at once through one server, a session exists once", async () => {
  put("projects/x/one.jsonl", ...Array.from({ length: 9 }, (_, i) => said(i, `line ${i}`)));
  const known = await Promise.all([1, 2, 3].map(() => KnownSessions.read(client as BlockSource)));
  const [log] = sessions();
  if (!log) throw new Error("no session");
  const ends = await Promise.all(known.map((each) => importLog(client as BlockSource, each, log, options)));
  expect(ends.map(({ type }) => type)).toEqual(["imported", "imported", "imported"]);
  const [{ id = "" } = {}] = await kernel.store.conversations({ limit: 9 });
  expect(await kernel.store.blocks({ conversation: id, order: "first", limit: 99 })).toHaveLength(9);
  const raw: Uint8Array[] = [];
  for await (const bytes of rawRuns(kernel.store, id)) raw.push(bytes);
  expect(Buffer.concat(raw).toString().trimEnd().split("\n")).toHaveLength(9);
});

it("[U91] a session whose conversation was deleted stays deleted, until its file is named", async () => {
  const past = limits.deletedUndoMs + 1_000;
  const remove = async (conversation: string) => {
    const now = vi.spyOn(Date, "now").mockReturnValue(NOW - past);
    expect(await client.call("conversation.delete", { conversation })).toMatchObject({ conversation });
    now.mockReturnValue(NOW);
    expect(await kernel.deletions.sweep()).toEqual([conversation]);
    now.mockRestore();
  };
  const turn = await kernel.createConversation("ann", "a turn");
  if (isProblem(turn)) throw new Error(turn.message);
  const ingest = new Ingest(kernel, { conversation: turn, agent: "claude" });
  await ingest.push([{ type: "session", provider: "claude", sessionId: "b" }]);
  await ingest.finish();
  for (const name of ["a", "b"])
    put(`projects/p/${name}.jsonl`, { ...(said(1, name) as JsonObject), sessionId: name });
  const found = sessions().toSorted((one, other) => one.name.localeCompare(other.name));
  const [log] = found;
  if (!log) throw new Error("no session");
  expect(await outcomes(found)).toEqual(["imported", "here"]);
  const first = (await KnownSessions.read(client as BlockSource)).idOf(log) as string;
  await remove(first);
  await remove(turn);
  expect(await outcomes(found)).toEqual(["deleted", "deleted"]);
  const known = await KnownSessions.read(client as BlockSource);
  const named = await importLog(client as BlockSource, known, log, { ...options, again: true });
  expect(named).toMatchObject({ type: "imported", isNew: true });
  const second = (await KnownSessions.read(client as BlockSource)).idOf(log) as string;
  expect(second).not.toBe(first);
  put("projects/p/a.jsonl", { ...(said(1, "a") as JsonObject), sessionId: "a" }, said(2, "more"));
  const grown = sessions().toSorted((one, other) => one.name.localeCompare(other.name));
  expect(await outcomes(grown)).toEqual(["imported", "deleted"]);
  expect(await client.call("conversation.list", {})).toMatchObject({
    conversations: [{ conversation: second }],
  });
});
