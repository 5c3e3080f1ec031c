/** Readers of `llm_*` events that are cut and reconnect, over real sockets: the same messages in the end, nothing doubled. */
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type BlockId,
  type Draft,
  isProblem,
  type LlmEvent,
  type LlmMessage,
  type Problem,
  reduceLlm,
} from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { type Running, serve } from "../app/serve.ts";
import { makeConfig } from "../config/config.ts";

const home = mkdtempSync(join(tmpdir(), "blockyard-llm-"));
let running: Running;
beforeAll(async () => {
  running = await serve(makeConfig({ env: {}, home, root: home, port: 0 }), () => undefined);
});
afterAll(async () => {
  await running.stop();
  rmSync(home, { recursive: true, force: true });
});

type Transport = "sse" | "socket";
type Message = LlmEvent | { readonly type: "llm_cursor" | "llm_reset"; readonly cursor?: string };

/** One connection: passes on each message with the cursor after it; returns a function to cut it. */
function connect(
  transport: Transport,
  path: string,
  cursor: string | undefined,
  hear: (message: Message | undefined, cursor: string | undefined) => void,
): () => void {
  const headers = { authorization: `Bearer ${running.auth.ownerToken}` };
  if (transport === "socket") {
    const since = cursor === undefined ? "" : `${path.includes("?") ? "&" : "?"}since=${cursor}`;
    const socket = new WebSocket(`${running.url.replace("http", "ws")}${path}${since}`, { headers });
    socket.on("message", (data: Buffer) => {
      const message = JSON.parse(data.toString()) as Message;
      hear(message.type === "llm_cursor" ? undefined : message, message.cursor);
    });
    socket.on("error", () => undefined);
    return () => socket.terminate();
  }
  const last = cursor === undefined ? {} : { "last-event-id": cursor };
  const asked = request(`${running.url}${path}`, { headers: { ...headers, ...last }, agent: false });
  asked.on("error", () => undefined);
  asked.on("response", (response: IncomingMessage) => {
    let text = "";
    response.on("error", () => undefined);
    response.on("data", (bytes: Buffer) => {
      const parts = `${text}${bytes.toString()}`.split("\n\n");
      text = parts.pop() ?? "";
      for (const part of parts) {
        const data = /^data: (.*)$/m.exec(part)?.[1];
        const id = /^id: (.*)$/m.exec(part)?.[1];
        hear(data === undefined ? undefined : (JSON.parse(data) as Message), id);
      }
    });
  });
  asked.end();
  return () => asked.destroy();
}

/** A reader that is cut after its `cutAt`th event and reconnects, at once or on request. */
class Reader {
  messages: readonly LlmMessage[] = [];
  readonly events: LlmEvent[] = [];
  readonly #transport: Transport;
  readonly #path: string;
  #cursor: string | undefined;
  #cut: () => void = () => undefined;
  #isCut = false;
  #news: () => void = () => undefined;

  constructor(transport: Transport, path: string) {
    this.#transport = transport;
    this.#path = path;
  }

  open(cutAt: number, onCut: () => void = () => undefined): void {
    this.#isCut = false;
    let count = 0;
    const cut = connect(this.#transport, this.#path, this.#cursor, (message, cursor) => {
      if (this.#isCut) return;
      if (message !== undefined && "messageId" in message) {
        this.messages = reduceLlm(this.messages, message);
        this.events.push(message);
        count++;
      }
      this.#cursor = cursor ?? this.#cursor;
      if (count === cutAt) {
        this.close();
        onCut();
      }
      this.#news();
    });
    this.#cut = cut;
  }

  close(): void {
    this.#isCut = true;
    this.#cut();
  }

  until(isThere: (reader: Reader) => boolean): Promise<void> {
    return new Promise((done) => {
      this.#news = () => isThere(this) && done();
      this.#news();
    });
  }

  get hasCursor(): boolean {
    return this.#cursor !== undefined;
  }

  get isComplete(): boolean {
    return this.messages.length > 0 && this.messages.every(({ isComplete }) => isComplete);
  }
}

const TURN = { id: "t1", provider: "claude", agent: "model", startedAt: 1 } as const;

/** A turn as agents have them, a write at a time. */
async function* longTurn(conversation: string): AsyncGenerator<void> {
  const { kernel } = running;
  const write = async <T>(plan: (draft: Draft) => T | Problem, agent = "model"): Promise<T> => {
    const answer = await kernel.write(conversation, { agent, plan });
    if (isProblem(answer)) throw new Error(answer.message);
    return answer as T;
  };
  const create = async (kind: "text" | "thinking" | "tool_call", metadata: object = {}): Promise<BlockId> => {
    const block = await write((draft) =>
      draft.create({ kind, role: "model", metadata: { turn: TURN.id, ...metadata } }),
    );
    return (block as { id: BlockId }).id;
  };
  const end = (id: BlockId, status: "done" | "error" = "done", metadata = {}) =>
    write((draft) => draft.status(id, status, metadata));
  await write((draft) => {
    draft.setTurn({ ...TURN, status: "running" });
    return null;
  });
  yield;
  const thinking = await create("thinking");
  for (const word of ["Let ", "me ", "see."])
    yield void (await write((draft) => draft.append(thinking, word)));
  yield void (await end(thinking));
  await write((draft) => {
    draft.setTurn({ ...TURN, status: "running", model: "model-1" }); // known only now
    return null;
  });
  const text = await create("text");
  for (const word of ["One ", "two ", "three."])
    yield void (await write((draft) => draft.append(text, word)));
  // Somebody edits the text.
  yield void (await write((draft) => draft.splice(text, [{ at: 0, del: "One", ins: "1" }]), "olive"));
  yield void (await end(text));
  const call = await create("tool_call", { toolUseId: "c1", toolName: "Bash" });
  for (const piece of ['{"command":', '"ls"}'])
    yield void (await write((draft) => draft.append(call, piece)));
  const ask = { id: "a1", kind: "permission", state: "asked", title: "Bash: ls" };
  yield void (await write((draft) => draft.meta(call, { input: { command: "ls" }, ask })));
  yield void (await write((draft) =>
    draft.meta(call, { stage: "running", ask: { ...ask, state: "allowed" } }),
  ));
  const output = (await write((draft) =>
    draft.create({
      kind: "command",
      role: "tool",
      parent: call,
      metadata: { toolUseId: "c1", toolName: "Bash", command: "ls", turn: TURN.id },
    }),
  )) as { id: BlockId };
  for (const line of ["a.txt\n", "b.txt\n"])
    yield void (await write((draft) => draft.append(output.id, line)));
  await write((draft) => {
    draft.status(output.id, "done");
    return draft.status(call, "done");
  });
  yield;
  const cut = await create("tool_call", { toolUseId: "c2", toolName: "Write" });
  yield void (await write((draft) => draft.append(cut, '{"path":"a')));
  yield void (await end(cut, "error", { reason: "truncated" }));
  const last = await create("text");
  yield void (await write((draft) => draft.append(last, "Done.")));
  await write((draft) => {
    draft.status(last, "done");
    draft.setTurn({ ...TURN, status: "done", model: "model-1", endedAt: 2, stopReason: "max_tokens" });
    return null;
  });
}

async function conversationOf(title: string): Promise<{ readonly id: string; readonly path: string }> {
  const id = await running.kernel.createConversation("olive", title);
  if (isProblem(id)) throw new Error(id.message);
  return { id, path: `/v1/conversations/${id}/events` };
}

async function play(conversation: string): Promise<void> {
  for await (const _ of longTurn(conversation));
}

const EXPECTED: readonly LlmMessage[] = [
  {
    messageId: "t1",
    model: "model-1",
    isComplete: true,
    stopReason: "max_tokens",
    contentBlocks: [
      { index: 0, type: "thinking", content: "Let me see.", isComplete: true },
      { index: 1, type: "text", content: "1 two three.", isComplete: true },
      {
        index: 2,
        type: "tool_use",
        content: '{"command":"ls"}',
        isComplete: true,
        toolName: "Bash",
        toolId: "c1",
      },
      {
        index: 3,
        type: "tool_use",
        content: '{"path":"a',
        isComplete: true,
        toolName: "Write",
        toolId: "c2",
      },
      { index: 4, type: "text", content: "Done.", isComplete: true },
    ],
    toolExecutions: [
      {
        toolId: "c1",
        toolName: "Bash",
        status: "success",
        input: { command: "ls" },
        result: "a.txt\nb.txt\n",
      },
      { toolId: "c2", toolName: "Write", status: "error", input: null, error: "truncated" },
    ],
  },
];

describe.each<Transport>(["sse", "socket"])("over %s", (transport) => {
  it("[AC45] tells a turn in order, and no tool before it runs", async () => {
    const { id, path } = await conversationOf("in order");
    const reader = new Reader(transport, path);
    reader.open(-1);
    await reader.until(({ hasCursor }) => hasCursor);
    await play(id);
    await reader.until(({ isComplete }) => isComplete);
    reader.close();
    expect(reader.messages).toEqual(EXPECTED);
    const tools = reader.events.filter(({ type }) => type.startsWith("llm_tool"));
    expect(tools.map((event) => [event.type.slice(19), "toolId" in event ? event.toolId : ""])).toEqual([
      ["waiting", "c1"],
      ["start", "c1"],
      ["progress", "c1"],
      ["progress", "c1"],
      ["complete", "c1"],
      ["complete", "c2"], // it was cut before it could start
    ]);
    expect(reader.events.filter(({ type }) => type === "llm_message_update")).toHaveLength(1);
  });

  it.each([true, false])(
    "[AC45] cut at every event of a long turn, a reader that reconnects has the same (at once: %s)",
    async (isAtOnce) => {
      const { id, path } = await conversationOf("cut");
      const reference = new Reader(transport, path);
      reference.open(-1);
      const readers = Array.from({ length: 40 }, () => new Reader(transport, path));
      let over = () => undefined as unknown;
      const turnIsOver = new Promise((done) => {
        over = () => done(undefined);
      });
      for (const [at, reader] of readers.entries()) {
        const back = async () => {
          if (!isAtOnce) await turnIsOver;
          reader.open(-1);
        };
        reader.open(at + 1, () => void back());
      }
      await Promise.all([reference, ...readers].map((reader) => reader.until(({ hasCursor }) => hasCursor)));
      await play(id);
      await reference.until(({ isComplete }) => isComplete);
      over();
      await Promise.all(readers.map((reader) => reader.until(({ isComplete }) => isComplete)));
      expect(reference.messages).toEqual(EXPECTED);
      expect(reference.events.length).toBeGreaterThanOrEqual(30);
      expect(reference.events.length).toBeLessThanOrEqual(readers.length + 5);
      for (const reader of readers) {
        expect(reader.messages).toEqual(reference.messages);
        reader.close();
      }
      reference.close();
    },
  );

  it("[AC45] a finished turn is sent whole to a reader that starts from it, and what came after", async () => {
    const { id, path } = await conversationOf("again");
    await play(id);
    const reader = new Reader(transport, `${path}?from=t1`);
    reader.open(-1);
    await reader.until(({ isComplete, hasCursor }) => isComplete && hasCursor);
    expect(reader.messages.map(({ toolExecutions: _, ...message }) => message)).toEqual(
      EXPECTED.map(({ toolExecutions: _, ...message }) => message),
    );
    expect(reader.messages[0]?.toolExecutions).toEqual(EXPECTED[0]?.toolExecutions);
    reader.close();
  });

  it("[AC45] a cursor of another store is answered with a reset, then with the running turns and the last ended one", async () => {
    const { id, path } = await conversationOf("elsewhere");
    await play(id);
    const seen: string[] = [];
    await new Promise<void>((done) => {
      const cut = connect(transport, path, "another.5", (message, cursor) => {
        if (message) seen.push(message.type);
        if (cursor === undefined) return;
        cut();
        done();
      });
    });
    expect([seen[0], seen[1], seen.at(-1)]).toEqual(["llm_reset", "llm_message_start", "llm_message_stop"]);
  });
});
