/** `llm_*` events of real recordings, read over SSE and over a socket: they must reduce to the blocks. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Block, isProblem, type LlmEvent, type LlmMessage, reduceLlm } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type Running, serve } from "../app/serve.ts";
import { makeConfig } from "../config/config.ts";
import { RECORDINGS, replay } from "../turns/replay.ts";
import { followLlm, type LlmSink, type LlmSource } from "./llm-follower.ts";

const home = mkdtempSync(join(tmpdir(), "blockyard-events-"));
let running: Running;
beforeAll(async () => {
  running = await serve(makeConfig({ env: {}, home, root: home, port: 0 }), () => undefined);
});
afterAll(async () => {
  await running.stop();
  rmSync(home, { recursive: true, force: true });
});

/** Reads events until the turn's last one. */
async function readSse<T>(conversation: string, format: string, isLast: (event: T) => boolean): Promise<T[]> {
  const stop = new AbortController();
  const response = await fetch(`${running.url}/v1/conversations/${conversation}/events?format=${format}`, {
    headers: { authorization: `Bearer ${running.auth.ownerToken}` },
    signal: stop.signal,
  });
  expect(response.headers.get("content-type")).toBe("text/event-stream");
  const events: T[] = [];
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of response.body as ReadableStream<Uint8Array>) {
    text += decoder.decode(bytes, { stream: true });
    const parts = text.split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const data = part.split("\n").find((line) => line.startsWith("data: "));
      if (data !== undefined) events.push(JSON.parse(data.slice(6)) as T);
    }
    if (events.some(isLast)) break;
  }
  stop.abort();
  return events;
}

function readSocket(conversation: string): Promise<LlmEvent[]> {
  const url = `${running.url.replace("http", "ws")}/v1/conversations/${conversation}/events`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${running.auth.ownerToken}` } });
  const events: LlmEvent[] = [];
  return new Promise((done, failed) => {
    socket.on("error", failed);
    socket.on("message", (data: Buffer) => {
      const event = JSON.parse(data.toString()) as LlmEvent;
      if (event.type.startsWith("llm_cursor")) return;
      events.push(event);
      if (event.type !== "llm_message_stop") return;
      socket.close();
      done(events);
    });
  });
}

const isStop = ({ type }: LlmEvent) => type === "llm_message_stop";
const TYPES: Readonly<Record<string, string>> = { text: "text", thinking: "thinking", tool_call: "tool_use" };

/** The blocks of a turn, in the form of a message. */
async function fromBlocks(conversation: string, turn: string) {
  const blocks = await running.store.blocks({ conversation, order: "first", limit: 10_000 });
  const told = blocks.filter(
    ({ kind, role, side, metadata }) =>
      kind in TYPES && role === "model" && !side && metadata["turn"] === turn,
  );
  const content = told.map(async ({ id, kind }, index) => ({
    index,
    type: TYPES[kind],
    content: await running.store.text(id),
  }));
  const calls = told
    .filter(({ kind }) => kind === "tool_call")
    .map(({ metadata }: Block) => ({
      toolId: metadata["toolUseId"],
      toolName: metadata["toolName"],
      status: metadata["success"] === true ? "success" : "error",
    }));
  return { content: await Promise.all(content), calls: calls.sort(byId) };
}

/** Calls that were made side by side may start in any order. */
function byId(a: { readonly toolId: unknown }, b: { readonly toolId: unknown }): number {
  return String(a.toolId) < String(b.toolId) ? -1 : 1;
}

function plain(message: LlmMessage | undefined) {
  return {
    content: message?.contentBlocks.map(({ index, type, content }) => ({ index, type, content })),
    calls: message?.toolExecutions
      .map(({ toolId, toolName, status }) => ({ toolId, toolName, status }))
      .sort(byId),
  };
}

const reduce = (events: readonly LlmEvent[]) =>
  events.reduce((messages, event) => reduceLlm(messages, event), [] as readonly LlmMessage[]);

describe.each(RECORDINGS)("[AC43] events of $name", (recording) => {
  it("[AC43] reduce to the blocks, from the start, from the middle and on a socket", async () => {
    const played = await replay(running.kernel, recording, "olive", 8);
    if (isProblem(played)) throw new Error(played.message);
    const { conversation } = played;
    const early = readSse<LlmEvent>(conversation, "blocks", isStop);
    const socket = readSocket(conversation);
    const flat = readSse<{ type: string; done?: boolean }>(
      conversation,
      "legacy",
      ({ done }) => done === true,
    );
    // A reader that joins when a few blocks already exist.
    await new Promise<void>((there) => {
      const unlisten = running.kernel.listen(({ conversation: where, record }) => {
        if (where !== conversation || record.blocks < 4) return;
        unlisten();
        there();
      });
    });
    const late = readSse<LlmEvent>(conversation, "blocks", isStop);
    await played.done;
    const [events, onSocket, fromMiddle] = await Promise.all([early, socket, late]);
    const messages = reduce(events);
    const [message] = messages;
    expect(messages).toHaveLength(1);
    const expected = await fromBlocks(conversation, message?.messageId ?? "");
    expect(expected.content.length).toBeGreaterThan(2);
    expect(plain(message)).toEqual(expected);
    expect(message).toMatchObject({ isComplete: true, stopReason: expect.any(String) });
    expect(message?.contentBlocks.every(({ isComplete }) => isComplete)).toBe(true);
    expect(events.at(-1)).toMatchObject({ totalContentBlocks: expected.content.length });
    for (const other of [onSocket, fromMiddle]) {
      expect(plain(reduce(other)[0])).toEqual(expected);
      expect(other.filter(isStop)).toHaveLength(1);
    }
    expect(events.every(({ version, messageId }) => version === 2 && messageId === message?.messageId)).toBe(
      true,
    );
    const texts = expected.content.filter(({ type }) => type === "text");
    const legacy = (await flat) as { type: string; text?: string; done?: boolean }[];
    const said = legacy.filter(({ type }) => type === "llm_assistant_response").map(({ text }) => text ?? "");
    expect(said.join("")).toBe(texts.map(({ content }) => content).join(""));
    expect(legacy.filter(({ type }) => type === "llm_tool_use")).toHaveLength(expected.calls.length);
    expect(legacy.filter(({ type }) => type === "llm_tool_result")).toHaveLength(expected.calls.length);
    expect(legacy.filter(({ done }) => done)).toHaveLength(1);
  });
});

/** The problem that a socket is answered with, and the code that it is closed with. */
async function refusedSocket(conversation: string, query: string): Promise<readonly unknown[]> {
  const url = `${running.url.replace("http", "ws")}/v1/conversations/${conversation}/events${query}`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${running.auth.ownerToken}` } });
  const said = new Promise<string>((heard) => socket.on("message", (data: Buffer) => heard(data.toString())));
  const code = new Promise<number>((closed) => socket.on("close", closed));
  return [(JSON.parse(await said) as { problem: string }).problem, await code];
}

describe("[AC43] joining", () => {
  it("[AC43] at any moment of a stream neither loses nor doubles a character", async () => {
    const { kernel } = running;
    const conversation = await kernel.createConversation("olive", "joined");
    if (isProblem(conversation)) throw new Error(conversation.message);
    const made = await kernel.write(conversation, {
      agent: "model",
      plan: (draft) => {
        draft.setTurn({
          id: "t",
          provider: "claude",
          agent: "model",
          status: "running",
          startedAt: draft.at,
        });
        return draft.create({ kind: "text", role: "model", text: "", metadata: { turn: "t" } });
      },
    });
    if (isProblem(made)) throw new Error(made.message);
    const { promise: ended, resolve: finish } = Promise.withResolvers<void>();
    const readers: Promise<LlmEvent[]>[] = [];
    let pieces = 0;
    const write = async () => {
      await kernel.append(made.id, "model", `piece ${pieces++}\n`);
      await kernel.drain(made.id, "model");
    };
    /** A kernel with late readers: something is committed and emitted between listening and reading, or after it. */
    const late = (before: number, after: number): LlmSource => ({
      store: kernel.store,
      conversation: (id) => kernel.conversation(id),
      follow: (id) => kernel.follow(id),
      listen: (listener) => kernel.listen(listener),
      turns: (id) => kernel.turns(id),
      blocks: (query) => kernel.blocks(query),
      read: async (id) => {
        for (let i = 0; i < before; i++) await write();
        const read = await kernel.read(id);
        for (let i = 0; i < after; i++) await write();
        return read;
      },
    });
    for (const [before, after] of [
      [0, 0],
      [1, 0],
      [0, 1],
      [2, 3],
      [5, 0],
      [0, 5],
    ] as const) {
      const events: LlmEvent[] = [];
      await write();
      const sink: LlmSink = {
        write: (told) => void events.push(...told),
        reset: () => undefined,
        opened: () => undefined,
        ready: async () => undefined,
        slow: () => undefined,
      };
      const following = await followLlm(late(before, after), conversation, {}, sink);
      if (isProblem(following)) throw new Error(following.message);
      await following.opened;
      readers.push(
        ended.then(() => {
          following.stop();
          return events;
        }),
      );
    }
    await kernel.drain(made.id, "model");
    await kernel.write(conversation, {
      agent: "model",
      plan: (draft) => {
        draft.status(made.id, "done");
        draft.setTurn({
          id: "t",
          provider: "claude",
          agent: "model",
          status: "done",
          startedAt: 0,
          endedAt: draft.at,
        });
        return null;
      },
    });
    finish();
    const text = await running.store.text(made.id);
    for (const events of await Promise.all(readers)) {
      const [message] = reduce(events);
      expect(message?.contentBlocks.map(({ content }) => content)).toEqual([text]);
      expect(message?.isComplete).toBe(true);
      expect(events.filter(isStop)).toHaveLength(1);
    }
  });

  it.each([
    ["?format=xml", 400, "invalid"],
    ["?since=yesterday", 400, "invalid"],
    ["?from=nobody", 404, "not_found"],
  ])("[AC45] %s is refused on both ways", async (query, status, code) => {
    const conversation = await running.kernel.createConversation("olive", "asked wrongly");
    const headers = { authorization: `Bearer ${running.auth.ownerToken}` };
    const response = await fetch(`${running.url}/v1/conversations/${conversation}/events${query}`, {
      headers,
    });
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({ problem: code }),
    ]);
    expect(await refusedSocket(String(conversation), query)).toEqual([code, 4011]);
  });

  it("[AC43] a conversation that is not there is a problem, on both ways", async () => {
    const headers = { authorization: `Bearer ${running.auth.ownerToken}` };
    const response = await fetch(`${running.url}/v1/conversations/nowhere/events`, { headers });
    expect([response.status, await response.json()]).toEqual([
      404,
      expect.objectContaining({ problem: "not_found" }),
    ]);
    expect(await refusedSocket("nowhere", "")).toEqual(["not_found", 4011]);
  });
});
