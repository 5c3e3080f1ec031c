/**
 * [R15] [R16] Viewers that are cut and come back, on real sockets: what each was told is checked frame by frame against
 * the versions of the blocks (no gap, no double), and at the end against the log. And writes whose answers are lost.
 */
import { isProblem, Replica, type ServerFrame, type View } from "@blockyard/kernel";
import { nodeEnv } from "@blockyard/server";
import { WebSocket } from "ws";
import { Wire } from "./cut.ts";
import type { TestHarness } from "./harness.ts";

/** A viewer's frames, checked as they come: every op is the next version of its block. */
export class Ledger {
  readonly versions = new Map<string, number>();
  readonly failures: string[] = [];
  readonly counts = { ok: 0, reset: 0, ops: 0, blocks: 0 };
  #seq = 0;

  take(frame: ServerFrame): void {
    if (frame.type === "verdict") {
      this.counts[frame.verdict]++;
      if (frame.verdict === "reset") {
        this.versions.clear();
        for (const { block } of frame.blocks) this.versions.set(block.id, block.version);
      } else if (frame.seq !== this.#seq) this.failures.push(`resumed at ${frame.seq}, had ${this.#seq}`);
      this.#seq = frame.seq;
    }
    if (frame.type !== "changes") return;
    if (frame.seq < this.#seq) this.failures.push(`the cursor went back from ${this.#seq} to ${frame.seq}`);
    this.#seq = frame.seq;
    for (const { block } of frame.blocks) {
      this.counts.blocks++;
      const had = this.versions.get(block.id) ?? 0;
      if (block.version < had) this.failures.push(`${block.id} went back from ${had} to ${block.version}`);
      this.versions.set(block.id, block.version);
    }
    for (const op of frame.ops) this.#takeOp(op);
  }

  #takeOp({
    block,
    version,
    versionFrom,
  }: {
    block: string | null;
    version: number;
    versionFrom: number;
  }): void {
    if (block === null) return;
    this.counts.ops++;
    const had = this.versions.get(block) ?? 0;
    if (versionFrom !== had + 1) {
      const what = versionFrom <= had ? "doubled" : "gap";
      this.failures.push(`${what} in ${block}: had ${had}, was told ${versionFrom}..${version}`);
    }
    this.versions.set(block, version);
  }
}

export interface ViewerOptions {
  readonly harness: TestHarness;
  readonly conversation: string;
  /** The relay that it comes through, where there is one. */
  readonly wire?: Wire;
  /** Called before each connection. */
  readonly beforeConnect?: () => void;
  /** Told every frame of a connection, by number; answers whether to cut behind it. */
  readonly cutAfter?: (frame: ServerFrame, number: number) => boolean;
}

/** A viewer that comes back as often as it is cut. */
export class Viewer {
  readonly ledger = new Ledger();
  readonly replica = new Replica({ env: nodeEnv });
  readonly view: View;
  readonly #options: ViewerOptions;
  #socket: WebSocket | undefined;
  #isOver = false;
  connections = 0;

  constructor(options: ViewerOptions) {
    this.#options = options;
    this.view = this.replica.subscribe(options.conversation);
    this.#connect();
  }

  /** Resolves when it has received everything up to `seq`, or when it is clear that it never will. */
  reached(seq: number): Promise<void> {
    const isThere = () => (this.view.since?.seq ?? 0) >= seq;
    return new Promise((there) => {
      const unlisten = this.replica.listen(() => {
        if (!isThere()) return;
        unlisten();
        there();
      });
      if (isThere()) there();
    });
  }

  close(): void {
    this.#isOver = true;
    this.#socket?.terminate();
  }

  #connect(): void {
    if (this.#isOver) return;
    const { harness, wire, beforeConnect, cutAfter } = this.#options;
    beforeConnect?.();
    this.connections++;
    // A relay has a port of its own, and the server answers to its own name only.
    const headers = { authorization: `Bearer ${harness.owner}`, host: harness.host };
    const url = `ws://127.0.0.1:${wire?.port ?? harness.port}/v1/feed`;
    const socket = new WebSocket(url, { headers, perMessageDeflate: false });
    this.#socket = socket;
    let frames = 0;
    socket.on("open", () => this.replica.connected((frame) => socket.send(JSON.stringify(frame))));
    socket.on("message", (data: Buffer) => {
      if (socket.readyState !== socket.OPEN) return; // still on its way when it was cut
      const frame = JSON.parse(data.toString("utf8")) as ServerFrame;
      this.ledger.take(frame);
      this.replica.receive(frame);
      if (cutAfter?.(frame, ++frames)) socket.terminate();
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      this.replica.disconnected();
      setImmediate(() => this.#connect());
    });
  }
}

/** Writes into a conversation from several sides until it is told to stop: streams, edits of others, ends, new blocks. */
export async function scribble(
  harness: TestHarness,
  conversation: string,
  isDone: () => boolean,
): Promise<void> {
  const { kernel } = harness.running;
  const must = <T>(value: T): T => {
    if (isProblem(value)) throw new Error(JSON.stringify(value));
    return value;
  };
  const create = async (agent: string) => {
    const made = must(
      await kernel.write(conversation, {
        agent,
        plan: (draft) => draft.create({ kind: "text", role: "model", text: `by ${agent}\n` }),
      }),
    );
    return (made as { id: string }).id;
  };
  const open = [await create("ann"), await create("bob")];
  for (let n = 0; !isDone(); n++) {
    const id = open[n % open.length] as string;
    const writer = id.split("/")[1] as string;
    if (n % 3 === 0) {
      await kernel.append(id, writer, `line ${n} of a stream that goes on\n`);
      await kernel.drain(id, writer);
    } else if (n % 17 === 5) {
      const text = "somebody else was here\n";
      const plan = (draft: Parameters<Parameters<typeof kernel.writeBlock>[1]["plan"]>[0]) =>
        draft.splice(id, [{ at: 0, del: "", ins: text }]);
      must(await kernel.writeBlock(id, { agent: "carl", plan }));
    } else if (n % 41 === 7) {
      must(await kernel.writeBlock(id, { agent: writer, plan: (draft) => draft.status(id, "done") }));
      open[n % open.length] = await create(writer);
    } else await kernel.append(id, writer, `word ${n} `);
    if (n % 5 === 0) await new Promise((next) => setImmediate(next));
  }
  for (const id of open) await kernel.drain(id, id.split("/")[1] as string);
}

export interface Watched {
  readonly cuts: number;
  readonly connections: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly failures: readonly string[];
}

/** One viewer, cut `cuts` times while others write: behind frames (in turn the first, second …) or at random bytes. */
export async function watchAndCut(
  harness: TestHarness,
  how: "frames" | "bytes",
  cuts: number,
  random: () => number,
): Promise<Watched> {
  const { conversation = "" } = await harness.call("conversation.create", { title: "watched" });
  const wire = await Wire.to(harness.port);
  let cut = 0;
  const isDone = () => (how === "frames" ? cut : wire.cuts) >= cuts;
  const viewer = new Viewer({
    harness,
    conversation,
    wire,
    beforeConnect: () => {
      // Some connections break before they greet, some behind a few frames.
      wire.budget =
        how === "frames" || isDone() ? Number.POSITIVE_INFINITY : 1 + Math.floor(random() ** 2 * 12_000);
      wire.halfOpen = random() < 0.2;
    },
    cutAfter: (_frame, number) => {
      if (how !== "frames" || isDone() || number < 1 + (cut % 7)) return false;
      cut++;
      return true;
    },
  });
  await scribble(harness, conversation, isDone);
  const failures = await compare(harness, conversation, viewer);
  const { connections, ledger } = viewer;
  viewer.close();
  await wire.close();
  return {
    cuts: Math.max(cut, wire.cuts),
    connections,
    counts: ledger.counts,
    failures: [...ledger.failures, ...failures],
  };
}

/** The viewer's copy against the store, once it has been told everything. */
async function compare(harness: TestHarness, conversation: string, viewer: Viewer): Promise<string[]> {
  const { kernel, store } = harness.running;
  const record = await kernel.conversation(conversation);
  if (isProblem(record)) return [record.message];
  await viewer.reached(record.seq);
  const failures: string[] = [];
  for (const block of await store.blocks({ conversation, order: "first", limit: 1_000_000 })) {
    const seen = viewer.view.blocks.get(block.id);
    if (!seen) {
      if (!viewer.view.more) failures.push(`${block.id} is missing`);
      continue;
    }
    if (seen.version !== block.version)
      failures.push(`${block.id} is at ${seen.version}, not ${block.version}`);
    const told = viewer.ledger.versions.get(block.id);
    if (told !== block.version) failures.push(`${block.id} was told up to ${told}, not ${block.version}`);
    const text = viewer.view.texts.get(block.id)?.toString();
    if (text !== undefined && text !== (await store.text(block.id)))
      failures.push(`${block.id} has another text`);
  }
  return failures;
}

/** [R16] Writes that are sent three times each, on three connections, the first two cut before or after the commit. */
export async function sendThrice(
  harness: TestHarness,
  writes: number,
  random: () => number,
): Promise<{ readonly lost: number; readonly doubled: number; readonly problems: readonly string[] }> {
  const { conversation = "" } = await harness.call("conversation.create", { title: "thrice" });
  const made = { conversation, kind: "text", role: "model", content: "start\n" };
  const { block_id = "" } = await harness.call("block.create", made);
  const problems: string[] = [];
  for (let i = 0; i < writes; i++) {
    const marker = `<${i}>\n`;
    const [tool, input] =
      i % 2 === 0
        ? ["block.append", { block_id, text: marker }]
        : ["block.edit", { block_id, operations: [{ op: "insert", line: 0, content: marker }] }];
    const frame = { type: "call", id: 1, tool, input, key: `thrice-${i}` };
    for (const isLast of [false, false, true]) {
      const answer = await sendOnce(
        harness,
        frame,
        isLast ? "answer" : random() < 0.5 ? "at once" : "after the commit",
      );
      if (answer?.includes('"problem"')) problems.push(answer);
    }
  }
  const { text } = (await harness.running.kernel.whole(block_id)) as { text: string };
  const times = Array.from({ length: writes }, (_, i) => text.split(`<${i}>`).length - 1);
  return {
    lost: times.filter((count) => count === 0).length,
    doubled: times.filter((count) => count > 1).length,
    problems,
  };
}

function sendOnce(
  harness: TestHarness,
  frame: object,
  until: "at once" | "after the commit" | "answer",
): Promise<string | undefined> {
  const socket = new WebSocket(`ws://${harness.host}/v1/feed`, {
    headers: { authorization: `Bearer ${harness.owner}` },
  });
  socket.on("error", () => undefined);
  return new Promise((done) => {
    let answer: string | undefined;
    const unlisten =
      until === "after the commit"
        ? harness.running.kernel.listen(() => socket.terminate())
        : () => undefined;
    socket.on("open", () => {
      socket.send(JSON.stringify({ type: "hello", protocol: 1 }));
      socket.send(JSON.stringify(frame), () => until === "at once" && socket.terminate());
    });
    socket.on("message", (data: Buffer) => {
      if (!data.toString().includes('"answer"')) return;
      // A write that was committed before is not committed again: its answer is all that comes.
      if (until === "answer") answer = data.toString();
      socket.terminate();
    });
    socket.on("close", () => {
      unlisten();
      done(answer);
    });
  });
}
