// Both ends of the wire, joined by an in-memory pipe that can be cut anywhere.

import { describe, expect, it } from "vitest";
import type { Block } from "../model/block.ts";
import type { Cursor } from "../model/cursor.ts";
import type { Json } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { settle, VirtualEnv } from "../testing/virtual-env.ts";
import { MergeDocument } from "../text/merge.ts";
import { Text } from "../text/text.ts";
import { Cursors } from "../write/cursors.ts";
import { Kernel } from "../write/kernel.ts";
import { Replica } from "./client/replica.ts";
import type { View } from "./client/view.ts";
import type { ClientFrame, ServerFrame } from "./frame.ts";
import { fromBase64, toBase64 } from "./frame.ts";
import { Connection, type Presence } from "./server/connection.ts";

class Joined {
  readonly env = new VirtualEnv(7);
  readonly store = new MemoryStore("epoch-1");
  kernel = new Kernel(this.env, this.store);
  readonly replica: Replica;
  connection: Connection | undefined;
  readonly sent: ServerFrame[] = [];
  readonly received: ClientFrame[] = [];
  /** Frames that the server may still deliver; then the pipe is cut. */
  framesLeft = Number.POSITIVE_INFINITY;
  buffered = 0;
  role: "owner" | "viewer" = "owner";
  presence: Presence | undefined;
  call = async (_tool: string, _input: unknown, _key: string | undefined): Promise<Json | Problem> => null;

  constructor({ isBrief = false } = {}) {
    this.replica = new Replica({ env: this.env, isBrief });
  }

  connect(): void {
    const connection = new Connection({
      kernel: this.kernel,
      agent: "amy",
      role: this.role,
      call: (tool, input, key) => this.call(tool, input, key),
      ...(this.presence ? { presence: this.presence } : {}),
      pipe: {
        send: (frame) => this.#deliver(connection, frame),
        buffered: () => this.buffered,
        close: () => this.cut(),
      },
    });
    this.connection = connection;
    this.replica.connected((frame) => {
      this.received.push(frame);
      connection.receive(JSON.parse(JSON.stringify(frame)));
    });
  }

  #deliver(connection: Connection, frame: ServerFrame): void {
    if (this.connection !== connection) return;
    if (this.framesLeft <= 0) return this.cut();
    this.framesLeft--;
    this.sent.push(frame);
    this.replica.receive(JSON.parse(JSON.stringify(frame)) as ServerFrame);
  }

  cut(): void {
    const { connection } = this;
    this.connection = undefined;
    connection?.close();
    this.replica.disconnected();
  }

  async conversation(): Promise<string> {
    return (await this.kernel.createConversation("claude", "wire")) as string;
  }

  async block(conversation: string, text = ""): Promise<Block> {
    const block = await this.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => draft.create({ kind: "text", role: "model", text }),
    });
    if (isProblem(block)) throw new Error(block.message);
    return block;
  }

  async expectEqual(view: View): Promise<void> {
    for (const id of view.order) {
      const whole = await this.kernel.whole(id);
      if (isProblem(whole)) throw new Error(whole.message);
      const { text, ...block } = whole;
      expect(view.blocks.get(id)).toEqual(block);
      if (view.texts.has(id)) expect(view.texts.get(id)?.toString()).toBe(text);
    }
    expect(view.record).toEqual(await this.kernel.conversation(view.conversation));
  }
}

const frames = (joined: Joined, type: ServerFrame["type"]) =>
  joined.sent.filter((frame) => frame.type === type);

describe("opening", () => {
  const bad: [string, unknown[]][] = [
    ["[W1] a frame before hello", [{ type: "ping", n: 1 }]],
    ["[W1] another protocol", [{ type: "hello", protocol: 99 }]],
    [
      "[W1] hello twice",
      [
        { type: "hello", protocol: 1 },
        { type: "hello", protocol: 1 },
      ],
    ],
    ["[W2] not a frame", [{ type: "hello", protocol: 1 }, { type: "nothing" }]],
    ["[W2] a field too much", [{ type: "hello", protocol: 1, admin: true }]],
    ["[W2] a string", ["hello"]],
    ["[W2] null", [null]],
  ];
  it.each(bad)("%s ends the connection", async (_title, messages) => {
    const joined = new Joined();
    const said: ServerFrame[] = [];
    let closed = false;
    const pipe = {
      send: (frame: ServerFrame) => said.push(frame),
      buffered: () => 0,
      close: () => (closed = true),
    };
    const other = new Joined();
    other.connect();
    const connection = new Connection({
      kernel: joined.kernel,
      agent: "x",
      role: "owner",
      call: joined.call,
      pipe,
    });
    for (const message of messages) connection.receive(message);
    expect(said.at(-1)).toMatchObject({ type: "bye", resumable: false });
    expect(closed).toBe(true);
    expect(other.replica.isConnected).toBe(true);
  });
});

describe("results that are closed", () => {
  async function withResult(): Promise<{ joined: Joined; view: View; result: string; text: string }> {
    const joined = new Joined({ isBrief: true });
    const conversation = await joined.conversation();
    const text = Array.from({ length: 500 }, (_, i) => `line ${i}`).join("\n");
    const result = await joined.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => {
        const call = draft.create({
          ...{ kind: "tool_call", role: "model", status: "done", text: "{}" },
          metadata: { toolName: "Bash", toolUseId: "a", stage: "end" },
        });
        if (isProblem(call)) return call;
        const metadata = { toolUseId: "a", command: "make", exitCode: 0 };
        const spec = { kind: "command", role: "tool", status: "done", parent: call.id, side: true } as const;
        return draft.create({ ...spec, text, metadata });
      },
    });
    if (isProblem(result)) throw new Error(result.message);
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    return { joined, view, result: result.id, text };
  }

  it("[W34] come with their summary, and with their texts on request", async () => {
    const { joined, view, result, text } = await withResult();
    expect(view.texts.has(result)).toBe(false);
    expect(view.closed.get(result)).toEqual({ summary: "line 499" });
    expect(JSON.stringify(joined.sent)).not.toContain("line 250");
    joined.replica.want(view, [result]);
    await joined.env.advance(50);
    expect(view.texts.get(result)?.toString()).toBe(text);
    expect(view.closed.has(result)).toBe(false);
    await joined.expectEqual(view);
  });

  it("[W34] those that are shown whole share the window's room with all other texts", async () => {
    const joined = new Joined({ isBrief: true });
    const conversation = await joined.conversation();
    const text = "x".repeat(60_000);
    for (let i = 0; i < 20; i++)
      await joined.kernel.write(conversation, {
        agent: "claude",
        plan: (draft) => {
          const metadata = { command: "make", notice: "rerun" } as const;
          return draft.create({ kind: "command", role: "tool", status: "done", text, metadata });
        },
      });
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    expect(view.order).toHaveLength(20);
    expect(view.texts.size).toBe(Math.floor(limits.windowTextChars / text.length));
  });

  it("[W34] forget it when they change", async () => {
    const { joined, view, result } = await withResult();
    const edited = await joined.kernel.write(view.conversation, {
      agent: "owner",
      plan: (draft) => draft.splice(result, [{ at: 0, del: "", ins: "another beginning" }]),
    });
    expect(isProblem(edited)).toBe(false);
    await joined.env.advance(limits.batchMs * 2);
    expect(view.closed.has(result)).toBe(false);
    await joined.expectEqual(view);
  });
});

describe("following", () => {
  it("[W3] [W10] a long conversation opens with its last blocks and pages upward", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    for (let i = 0; i < 500; i++) await joined.block(conversation, `block ${i}`);
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    expect(view.order).toHaveLength(limits.windowBlocks);
    expect(view.more).toBe(true);
    expect(view.texts.get(view.order.at(-1) as string)?.toString()).toBe("block 499");
    await joined.replica.page(view, 200);
    await joined.replica.page(view, 200);
    expect(view.order).toHaveLength(500);
    expect(view.more).toBe(false);
    expect(view.texts.get(view.order[0] as string)?.toString()).toBe("block 0");
    await joined.expectEqual(view);
  });

  it("[W33] an open call is sent, however far back it began, and so is its end", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const metadata = { toolUseId: "t1", toolName: "Bash" };
    const call = await joined.kernel.write(conversation, {
      agent: "model",
      plan: (draft) => {
        const made = draft.create({ kind: "tool_call", role: "model", text: "{}", metadata });
        return isProblem(made) ? made : draft.meta(made.id, { stage: "running", input: { command: "ls" } });
      },
    });
    if (isProblem(call)) throw new Error(call.message);
    for (let i = 0; i < limits.windowBlocks + 10; i++) await joined.block(conversation, `block ${i}`);
    const told: string[] = [];
    joined.replica.listenTools(({ id, stage, parameters, result }) => {
      told.push([id, stage, parameters, ...(result === undefined ? [] : [result])].join(" "));
    });
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    expect(view.order).toHaveLength(limits.windowBlocks);
    await joined.kernel.write(conversation, {
      agent: "model",
      plan: (draft) => {
        draft.create({
          kind: "command",
          role: "tool",
          parent: call.id,
          status: "done",
          text: "a",
          metadata: { command: "ls" },
        });
        return draft.status(call.id, "done");
      },
    });
    await joined.env.advance(50);
    const input = '{"command":"ls"}';
    expect(told).toEqual([`t1 start `, `t1 streaming ${input}`, `t1 running ${input}`, `t1 end ${input} a`]);
  });

  it("[W4] [W8] cut at every frame, it resumes without gap or duplicate", async () => {
    for (let cutAfter = 1; cutAfter < 12; cutAfter++) {
      const joined = new Joined();
      const conversation = await joined.conversation();
      const block = await joined.block(conversation);
      joined.connect();
      const view = joined.replica.subscribe(conversation);
      joined.framesLeft = cutAfter;
      for (let i = 0; i < 8; i++) {
        await joined.kernel.append(block.id, "claude", `line ${i}\n`);
        await joined.env.advance(20);
      }
      joined.cut();
      await joined.kernel.append(block.id, "claude", "while away\n");
      await joined.block(conversation, "new while away");
      await joined.env.advance(200);
      joined.framesLeft = Number.POSITIVE_INFINITY;
      joined.connect();
      await joined.env.advance(100);
      expect(view.texts.get(block.id)?.toString()).toBe(
        `${Array.from({ length: 8 }, (_, i) => `line ${i}\n`).join("")}while away\n`,
      );
      await joined.expectEqual(view);
      const verdicts = frames(joined, "verdict") as (ServerFrame & { type: "verdict" })[];
      if (cutAfter > 2) expect(verdicts.at(-1)?.verdict).toBe("ok");
    }
  });

  const cursors: [string, { epoch: string; seq: number }][] = [
    ["of another epoch", { epoch: "other", seq: 1 }],
    ["ahead of the conversation", { epoch: "epoch-1", seq: 999 }],
  ];
  it.each(cursors)("[W5] a cursor %s starts over", async (_title, since) => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    await joined.block(conversation, "here");
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    view.since = since;
    joined.cut();
    joined.connect();
    await joined.env.advance(50);
    expect(frames(joined, "verdict").at(-1)).toMatchObject({ verdict: "reset", reason: expect.any(String) });
    await joined.expectEqual(view);
  });

  it("[W5] a cursor that missed too many blocks starts over", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    joined.cut();
    for (let i = 0; i < 600; i++) await joined.block(conversation, `${i}`);
    joined.connect();
    await joined.env.advance(50);
    expect(frames(joined, "verdict").at(-1)).toMatchObject({ verdict: "reset" });
    await joined.expectEqual(view);
  });

  it("[W6] commits during the catch-up are delivered once", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const block = await joined.block(conversation, "start ");
    joined.connect();
    const view = joined.replica.subscribe(conversation); // reads, while the following is committed
    const writes = Array.from({ length: 20 }, (_, i) =>
      joined.kernel.write(conversation, {
        agent: "claude",
        plan: (draft) => draft.append(block.id, `${i} `),
      }),
    );
    await Promise.all(writes);
    await joined.env.advance(100);
    expect(view.texts.get(block.id)?.toString()).toBe(
      `start ${Array.from({ length: 20 }, (_, i) => `${i} `).join("")}`,
    );
    await joined.expectEqual(view);
  });

  it.each(["anew", "resumed"])("[W6] a commit after the read of a catch-up follows it (%s)", async (how) => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const block = await joined.block(conversation, "start ");
    const other = await joined.block(conversation, "other ");
    const append = (id: string, text: string) =>
      joined.kernel.write(conversation, { agent: "claude", plan: (draft) => draft.append(id, text) });
    joined.connect();
    if (how === "resumed") {
      joined.replica.subscribe(conversation);
      await joined.env.advance(50);
      joined.cut();
    }
    await append(other.id, "missed ");
    const { kernel } = joined;
    const blocks = kernel.blocks.bind(kernel);
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let hasRead = false;
    kernel.blocks = async (query) => {
      const found = await blocks(query);
      hasRead = true;
      await held;
      return found;
    };
    if (how === "resumed") joined.connect();
    const view = joined.replica.subscribe(conversation);
    await settle();
    expect(hasRead).toBe(true);
    const born = await joined.block(conversation, "born meanwhile");
    await append(block.id, "meanwhile");
    goOn();
    // Nothing is written after it that would reveal the gap.
    await joined.env.advance(100);
    expect(frames(joined, "verdict").at(-1)).toMatchObject({ verdict: how === "resumed" ? "ok" : "reset" });
    expect(view.texts.get(born.id)?.toString()).toBe("born meanwhile");
    kernel.blocks = blocks;
    await joined.expectEqual(view);
  });

  it("[W7] a compacted block is sent whole", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const block = await joined.block(conversation, "one two");
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    joined.cut();
    for (const ins of ["a", "b", "c"]) {
      await joined.kernel.writeBlock(block.id, {
        agent: "amy",
        plan: (draft) => draft.splice(block.id, [{ at: 3, del: "", ins }]),
      });
    }
    expect(await joined.kernel.compact(block.id)).toBeUndefined();
    joined.connect();
    await joined.env.advance(50);
    expect(view.texts.get(block.id)?.toString()).toBe("onecba two");
    await joined.expectEqual(view);
  });

  it("[W8] a duplicated frame changes nothing, a lost one is requested again", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const block = await joined.block(conversation, "x");
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    await joined.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => draft.append(block.id, "1"),
    });
    await joined.env.advance(50);
    const frame = joined.sent.at(-1) as ServerFrame;
    joined.replica.receive(frame);
    expect(view.texts.get(block.id)?.toString()).toBe("x1");
    joined.framesLeft = 0; // this one gets lost on the way, the pipe itself lives on
    const { connection } = joined;
    const cut = joined.cut.bind(joined);
    joined.cut = () => undefined;
    await joined.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => draft.append(block.id, "2"),
    });
    await joined.env.advance(50);
    joined.framesLeft = Number.POSITIVE_INFINITY;
    joined.cut = cut;
    expect(joined.connection).toBe(connection);
    await joined.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => draft.append(block.id, "3"),
    });
    await joined.env.advance(50);
    expect(view.texts.get(block.id)?.toString()).toBe("x123");
    await joined.expectEqual(view);
  });

  it("[W9] a large text comes in pieces, and concurrent writes are kept", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const big = "0123456789abcde\n".repeat(60_000);
    const block = await joined.block(conversation, big);
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    expect(view.texts.has(block.id)).toBe(false);
    joined.replica.want(view, [block.id]);
    const write = joined.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) => draft.append(block.id, "tail"),
    });
    await joined.env.advance(100);
    await write;
    await joined.env.advance(100);
    expect(frames(joined, "text").length).toBeGreaterThan(2);
    expect(view.texts.get(block.id)?.equals(Text.of(`${big}tail`))).toBe(true);
  });
});

describe("pace", () => {
  it.each([
    ["taken what was sent is told of each commit at once", 0, 10],
    ["not is told of those of 16 ms, as one run", 1, 0],
  ])("[W11] a client that has %s", async (_title, buffered, atOnce) => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const block = await joined.block(conversation);
    joined.connect();
    joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    const before = frames(joined, "changes").length;
    const sent = () => frames(joined, "changes").slice(before) as (ServerFrame & { type: "changes" })[];
    joined.buffered = buffered;
    for (let i = 0; i < 10; i++) {
      await joined.kernel.write(conversation, {
        agent: "claude",
        plan: (draft) => draft.append(block.id, `${i}`),
      });
      await settle();
    }
    expect(sent()).toHaveLength(atOnce);
    await joined.env.advance(limits.batchMs - 1);
    expect(sent()).toHaveLength(atOnce);
    await joined.env.advance(2);
    expect(sent()).toHaveLength(Math.max(1, atOnce));
    expect(sent()[0]?.ops).toHaveLength(1);
    expect(sent().flatMap(({ ops }) => ops.map(({ body }) => body.type === "append" && body.text))).toEqual(
      buffered === 0 ? [..."0123456789"] : ["0123456789"],
    );
  });

  it("[W12] a slow reader is coalesced, then cut, and resumes without loss", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const block = await joined.block(conversation);
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    joined.buffered = limits.queueChars + 1; // nothing is sent any more
    const line = `${"x".repeat(99_999)}\n`;
    for (let i = 0; i < 60; i++) {
      await joined.kernel.write(conversation, {
        agent: "claude",
        plan: (draft) => draft.append(block.id, line),
      });
      await joined.env.advance(20);
    }
    expect(joined.replica.bye).toMatchObject({ code: "slow", resumable: true });
    expect(joined.connection).toBeUndefined();
    joined.buffered = 0;
    joined.connect();
    await joined.env.advance(100);
    joined.replica.want(view, [block.id]);
    await joined.env.advance(2_000);
    expect(view.texts.get(block.id)?.toString()).toBe(line.repeat(60));
  });
});

describe("calls", () => {
  it("[W13] [W14] [W15] a keyed call survives a cut and is applied once; one without a key is answered with a problem", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const block = await joined.block(conversation);
    let calls = 0;
    joined.call = async (tool, _input, key) => {
      calls++;
      if (tool === "slow.read") return new Promise(() => undefined);
      const answer = await joined.kernel.write(conversation, {
        agent: "amy",
        ...(key === undefined ? {} : { key }),
        plan: (draft) => {
          const after = draft.append(block.id, "once");
          return isProblem(after) ? after : { version: after.version };
        },
      });
      return answer as Json | Problem;
    };
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    joined.framesLeft = 0; // the answer never arrives
    const write = joined.replica.call("block.append", {}, { write: true });
    const read = joined.replica.call("slow.read", {}, { write: false });
    await joined.env.advance(50);
    joined.cut();
    expect(isProblem(await read)).toBe(true);
    joined.framesLeft = Number.POSITIVE_INFINITY;
    joined.connect();
    await joined.env.advance(50);
    expect(isProblem(await write)).toBe(false);
    expect(calls).toBe(3);
    expect(view.texts.get(block.id)?.toString()).toBe("once");
    const order = joined.sent.map((frame) => frame.type);
    expect(order.lastIndexOf("changes")).toBeLessThan(order.lastIndexOf("answer"));
  });
});

describe("merging and presence", () => {
  it("[W16] a replica's update is merged and seen by everybody", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    const block = await joined.block(conversation, "hello world");
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    const heard: Uint8Array[] = [];
    joined.replica.sync(block.id, {
      update: (update) => heard.push(update),
      refused: (why) => expect(why).toBeUndefined(),
    });
    await joined.env.advance(50);
    expect(MergeDocument.fromUpdates(heard).toString()).toBe("hello world");
    const { Doc, applyUpdate, encodeStateAsUpdate, encodeStateVector } = await import("yjs");
    const doc = new Doc();
    doc.clientID = 2 ** 31 + 5;
    for (const update of heard) applyUpdate(doc, update);
    const vector = encodeStateVector(doc);
    doc.getText("t").insert(5, ", dear");
    const answer = await joined.replica.update(block.id, encodeStateAsUpdate(doc, vector));
    await joined.env.advance(50);
    expect(answer).toMatchObject({ version: 3 });
    expect(view.texts.get(block.id)?.toString()).toBe("hello, dear world");
    await joined.kernel.append(block.id, "claude", "!\n");
    await joined.env.advance(50);
    for (const update of heard.splice(0)) applyUpdate(doc, update);
    expect(doc.getText("t").toString()).toBe("hello, dear world!\n");
    await joined.expectEqual(view);
  });

  it("[W16] a connection has a bounded number of blocks open to edit", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    joined.connect();
    const refusals: string[] = [];
    const ids: string[] = [];
    for (let i = 0; i <= limits.syncedBlocks; i++) ids.push((await joined.block(conversation, "x")).id);
    const open = (id: string) =>
      joined.replica.sync(id, { update: () => undefined, refused: ({ problem }) => refusals.push(problem) });
    for (const id of ids.slice(0, -1)) open(id);
    await joined.env.advance(50);
    expect(refusals).toEqual([]);
    open(ids.at(-1) as string);
    await joined.env.advance(50);
    expect((await joined.kernel.block(ids.at(-1) as string)) as Block).toMatchObject({ promoted: false });
  });

  it("[W17] a viewer follows and cannot write", async () => {
    const joined = new Joined();
    joined.role = "viewer";
    const conversation = await joined.conversation();
    const block = await joined.block(conversation, "text");
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    let refused: Problem | undefined;
    joined.replica.sync(block.id, { update: () => undefined, refused: (why) => (refused = why) });
    const update = joined.replica.update(block.id, new Uint8Array([0, 0]));
    await joined.env.advance(50);
    expect(refused).toMatchObject({ problem: "forbidden" });
    expect(await update).toMatchObject({ problem: "forbidden" });
    expect(view.texts.get(block.id)?.toString()).toBe("text");
    expect((await joined.store.conversation(conversation))?.seq).toBe(2);
  });

  it("[W18] cursors reach all followers", async () => {
    const joined = new Joined();
    const cursors: Cursor[] = [];
    let emit: ((conversation: string) => void) | undefined;
    joined.presence = {
      of: () => cursors,
      listen: (listener) => {
        emit = listener;
        return () => undefined;
      },
    };
    const conversation = await joined.conversation();
    const block = await joined.block(conversation, "text");
    joined.connect();
    const view = joined.replica.subscribe(conversation);
    await joined.env.advance(50);
    cursors.push({ agent: "bo", block: block.id, anchor: 1, head: 2 });
    emit?.(conversation);
    await joined.env.advance(0);
    expect(view.cursors).toEqual(cursors);
    expect((await joined.store.conversation(conversation))?.seq).toBe(2);
  });

  it("[W18] a cursor that an edit has set is sent after the edit", async () => {
    const joined = new Joined();
    const cursors = new Cursors(joined.kernel);
    joined.presence = cursors;
    const conversation = await joined.conversation();
    const block = await joined.block(conversation, "text");
    joined.connect();
    joined.replica.subscribe(conversation);
    joined.replica.sync(block.id, { update: () => undefined, refused: () => undefined });
    await joined.env.advance(50);
    joined.sent.length = 0;
    await joined.kernel.writeBlock(block.id, {
      agent: "bo",
      plan: (draft) => draft.splice(block.id, [{ at: 4, del: "", ins: " more" }]),
    });
    await joined.env.advance(50);
    const types = joined.sent
      .map(({ type }) => type)
      .filter((type) => type === "update" || type === "presence");
    expect(types).toEqual(["update", "presence"]);
    cursors.close();
  });
});

describe("watching", () => {
  it("[W19] tells of every conversation that changes, the newest of each, and again after a reconnect", async () => {
    const joined = new Joined();
    const first = await joined.conversation();
    joined.connect();
    const heard: string[][] = [];
    joined.replica.watch((records) => heard.push(records.map(({ id, seq }) => `${id} ${seq}`)));
    await joined.env.advance(limits.watchMs);
    expect(heard).toEqual([]);
    const second = await joined.conversation();
    await joined.block(first, "one");
    await joined.block(first, "two");
    await joined.env.advance(limits.watchMs);
    expect(heard).toEqual([[`${second} 1`, `${first} 3`]]);
    joined.cut();
    await joined.block(second, "unheard");
    joined.connect();
    await joined.block(second, "heard");
    await joined.env.advance(limits.watchMs);
    expect(heard.slice(1)).toEqual([[`${second} 3`]]);
  });

  it("[W19] [K81] the start and end of a turn are sent at once, with what was waiting", async () => {
    const joined = new Joined();
    const [first, second] = [await joined.conversation(), await joined.conversation()];
    joined.connect();
    const heard: string[][] = [];
    joined.replica.watch((records) => heard.push(records.map(({ id, running }) => `${id} ${running}`)));
    await joined.env.advance(limits.watchMs);
    const turn = async (status: "running" | "done") => {
      const of = { id: "t", provider: "claude", agent: "claude", startedAt: 0 };
      await joined.kernel.write(first, {
        agent: "claude",
        plan: (draft) => {
          draft.setTurn({ ...of, status });
          return null;
        },
      });
      await joined.env.advance(0);
    };
    await joined.block(second, "one");
    await turn("running");
    expect(heard).toEqual([[`${second} `, `${first} t`]]);
    await turn("done");
    expect(heard.slice(1)).toEqual([[`${first} `]]);
    await joined.env.advance(limits.watchMs * 3);
    expect(heard).toHaveLength(2);
  });

  it("[W19] without a watch nothing is sent; a slow reader gets it later, once", async () => {
    const joined = new Joined();
    const conversation = await joined.conversation();
    joined.connect();
    await joined.block(conversation, "one");
    await joined.env.advance(limits.watchMs);
    const told = () => joined.sent.filter(({ type }) => type === "records").length;
    expect(told()).toBe(0);
    joined.replica.watch(() => undefined);
    joined.buffered = limits.queueChars + 1;
    await joined.block(conversation, "two");
    await joined.env.advance(limits.watchMs * 3);
    expect(told()).toBe(0);
    joined.buffered = 0;
    await joined.env.advance(limits.watchMs * 3);
    expect(told()).toBe(1);
  });
});

describe("base64", () => {
  it("[W16] carries any bytes, and refuses invalid frames", () => {
    for (let length = 0; length < 40; length++) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 89 + length) & 255);
      expect(fromBase64(toBase64(bytes))).toEqual(bytes);
      expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
    }
    for (const bad of ["a", "abc", "ab*=", "=abc", "a===", "====="]) expect(fromBase64(bad)).toBeUndefined();
  });
});

it("[W40] a viewer of a deleted conversation is told that it is gone; so are lists", async () => {
  const joined = new Joined();
  const conversation = await joined.conversation();
  await joined.block(conversation, "text");
  const other = await joined.conversation();
  joined.connect();
  joined.connection?.receive({ type: "watch" });
  const view = joined.replica.subscribe(conversation);
  const beside = joined.replica.subscribe(other);
  await joined.env.advance(100);
  expect(view.problem).toBeUndefined();
  await joined.kernel.deletions.delete(conversation, "amy");
  await joined.env.advance(limits.watchMs + 100);
  expect(view.problem).toMatchObject({ problem: "gone", details: { conversation } });
  expect(beside.problem).toBeUndefined();
  await joined.kernel.deletions.restore(conversation, "amy");
  await joined.env.advance(limits.watchMs + 100);
  const records = joined.sent.flatMap((frame) => (frame.type === "records" ? frame.records : []));
  const marks = records.filter(({ id }) => id === conversation).map(({ deleted }) => deleted !== undefined);
  expect(marks).toEqual([true, false]);
});
