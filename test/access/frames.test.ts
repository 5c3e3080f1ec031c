/** What a socket survives: invalid frames, endless senders, readers that never read. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { heldBuffers } from "../held.ts";
import { encode, fuzzFrames, type Target, upgraded } from "./frames.ts";
import { statusOf, TestHarness } from "./harness.ts";

let harness: TestHarness;
let target: Target;

beforeAll(async () => {
  harness = await TestHarness.start();
  const { conversation = "" } = await harness.call("conversation.create", { title: "x" });
  const made = { conversation, kind: "text", role: "model", content: "x\n".repeat(100) };
  const { block_id = "" } = await harness.call("block.create", made);
  target = { port: harness.port, token: harness.owner, conversation, block: block_id };
});
afterAll(() => harness.stop());

/** Resolves with what came back when the server has closed the socket. */
function closed(socket: ReturnType<typeof upgraded>): Promise<string> {
  let text = "";
  socket.on("data", (piece: Buffer) => {
    text += piece.toString("latin1");
  });
  return new Promise((done) => socket.on("close", () => done(text)));
}

describe("[R41] mutated frames", () => {
  it("[AC23] 20,000 of them end connections, and nothing else", async () => {
    const before = harness.lines.length;
    const fuzzed = await fuzzFrames(target, 20_000, 41);
    expect(fuzzed.frames).toBeGreaterThanOrEqual(20_000);
    expect(fuzzed.closes[-1] ?? 0).toBe(0); // none hangs
    expect(fuzzed.closes[4011]).toBeGreaterThan(50); // invalid
    expect(fuzzed.closes[4010]).toBeGreaterThan(50); // no greeting, or a second one
    expect(fuzzed.closes[1002]).toBeGreaterThan(20); // no frames
    expect(fuzzed.heard).toBeGreaterThan(1_000);
    expect((await harness.ask("/health", { token: harness.owner })).status).toBe(200);
    const faults = harness.lines.slice(before).filter((line) => line.includes('"level":"error"'));
    expect(faults).toEqual([]);
  }, 60_000);
});

describe("bounds of a socket", () => {
  it("[AC23] a message over a megabyte is refused, whole, in fragments that never end, and as a length that lies", async () => {
    const piece = Buffer.alloc(64 * 1024, "x");
    const whole = upgraded(target);
    const wholeEnd = closed(whole);
    whole.write(encode(Buffer.alloc(1024 * 1024 + 1, "x")));
    expect(await wholeEnd).toContain("101");
    const lying = upgraded(target);
    const lyingEnd = closed(lying);
    lying.write(encode(Buffer.from("x"), { length: 2 ** 40 }));
    await lyingEnd;
    const endless = upgraded(target);
    let sent = 0;
    const end = closed(endless);
    endless.write(encode(piece, { fin: false }));
    const timer = setInterval(() => {
      sent++;
      endless.write(encode(piece, { opcode: 0, fin: false }));
    }, 1);
    await end;
    clearInterval(timer);
    expect(sent).toBeLessThan(500);
  });

  it("[AC23] many tiny fragments end too", async () => {
    const socket = upgraded(target);
    const end = closed(socket);
    socket.write(encode(Buffer.from("x"), { fin: false }));
    const many = Buffer.concat(
      Array.from({ length: 20_000 }, () => encode(Buffer.from("x"), { opcode: 0, fin: false })),
    );
    const timer = setInterval(() => socket.write(many), 5);
    await end;
    clearInterval(timer);
  });

  it("[AC7] compression is never agreed on, and a compressed frame ends the socket", async () => {
    const headers = {
      authorization: `Bearer ${harness.owner}`,
      "sec-websocket-extensions": "permessage-deflate",
    };
    const lines = Object.entries({ host: harness.host, ...headers }).map(
      ([name, value]) => `${name}: ${value}\r\n`,
    );
    const upgrade =
      "connection: Upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const answer = await harness.raw(`GET /v1/feed HTTP/1.1\r\n${lines.join("")}${upgrade}\r\n`);
    expect(statusOf(answer)).toBe(101);
    expect(answer.toLowerCase()).not.toContain("permessage-deflate");
    const socket = upgraded(target);
    const end = closed(socket);
    socket.write(encode(Buffer.from("x"), { rsv: 4 }));
    expect(await end).toContain("101");
  });

  it("[AC42] a viewer that never reads is cut, and costs no more than its queue", async () => {
    const socket = upgraded(target);
    await new Promise((open) => socket.once("data", open));
    socket.pause();
    socket.write(encode(Buffer.from('{"type":"hello","protocol":1}')));
    const follow = { type: "subscribe", sub: 1, conversation: target.conversation };
    socket.write(encode(Buffer.from(JSON.stringify(follow))));
    const { kernel } = harness.running;
    const health = async () =>
      JSON.parse((await harness.ask("/health", { token: harness.owner })).body) as { sockets: number };
    const id = await write(kernel, target.conversation);
    const line = `${"not read by anybody ".repeat(500)}\n`;
    const start = heldBuffers();
    let most = 0;
    let written = 0;
    while ((await health()).sockets > 0) {
      if (written > 30 * 1024 * 1024) continue;
      for (let i = 0; i < 50; i++) await kernel.append(id, "ann", line);
      await kernel.drain(id, "ann");
      written += 50 * line.length;
      most = Math.max(most, heldBuffers() - start);
    }
    expect((await health()).sockets).toBe(0);
    expect(most).toBeLessThan(16 * 1024 * 1024);
    socket.destroy();
  });

  it("[AC42] one that only pings, and never reads the answers, is cut as well", async () => {
    const socket = upgraded(target);
    await new Promise((open) => socket.once("data", open));
    socket.pause();
    const pings = Buffer.concat(Array(2_000).fill(encode(Buffer.alloc(125, "x"), { opcode: 9 })));
    const gone = new Promise<"gone">((done) => socket.once("close", () => done("gone")));
    let sent = 0;
    while (!socket.closed && sent < 256 * 1024 * 1024) {
      sent += pings.length;
      if (!socket.write(pings)) await Promise.race([gone, new Promise((go) => socket.once("drain", go))]);
    }
    expect(socket.closed).toBe(true);
  }, 60_000);
});

describe("bounds of a connection", () => {
  it("[AC9] unauthenticated connections push out each other, never the owner", async () => {
    const inside = upgraded(target);
    await new Promise((open) => inside.once("data", open));
    const idle: ReturnType<TestHarness["socket"]>[] = [];
    while (idle.length < 2_200) {
      const more = Array.from({ length: 100 }, () => harness.socket(""));
      idle.push(...more);
      await Promise.all(more.map((socket) => new Promise((open) => socket.once("connect", open))));
    }
    expect((await harness.ask("/health", { token: harness.owner })).status).toBe(200);
    expect(inside.closed).toBe(false);
    for (const socket of [...idle, inside]) socket.destroy();
  }, 30_000);

  it("[AC9] an agent with too many streams is told so, and locks nobody out", async () => {
    const token = harness.agent("greedy");
    const lines = ["GET /v1/changes HTTP/1.1", `host: ${harness.host}`, `authorization: Bearer ${token}`];
    const statuses: number[] = [];
    const open: ReturnType<TestHarness["socket"]>[] = [];
    while (open.length < 150) {
      const more = Array.from({ length: 50 }, () => harness.socket(`${lines.join("\r\n")}\r\n\r\n`));
      open.push(...more);
      const heads = more.map((socket) => new Promise<Buffer>((come) => socket.once("data", come)));
      for (const head of await Promise.all(heads)) statuses.push(statusOf(head.toString("latin1")));
    }
    expect(statuses.filter((status) => status === 200)).toHaveLength(100);
    expect(statuses.filter((status) => status === 429)).toHaveLength(50);
    expect((await harness.ask("/health", { token: harness.owner })).status).toBe(200);
    for (const socket of open) socket.destroy();
    await expect
      .poll(async () => (await harness.ask("/health", { token })).status, { timeout: 10_000 })
      .toBe(200);
  }, 30_000);

  it("[AC9] hundreds of idle unauthenticated connections and slow headers keep nobody waiting", async () => {
    const idle = Array.from({ length: 300 }, () => harness.socket(""));
    const slow = Array.from({ length: 100 }, () =>
      harness.socket(`GET / HTTP/1.1\r\nhost: ${harness.host}\r\nx: `),
    );
    for (const socket of slow) socket.write("y");
    const startMs = performance.now();
    for (let i = 0; i < 20; i++)
      expect((await harness.ask("/health", { token: harness.owner })).status).toBe(200);
    expect(performance.now() - startMs).toBeLessThan(5_000);
    for (const socket of [...idle, ...slow]) socket.destroy();
  });

  it.each([
    [
      "cookies of other servers",
      `cookie: ${"b=yyyyyyyyyyyyyyyyyyy; ".repeat(1_000)}\r\n`,
      431,
      "delete the cookies",
    ],
    ["a header that has no name", "nothing\r\n", 400, ""],
    ["two lengths", "content-length: 1\r\ncontent-length: 2\r\n", 400, ""],
  ])(
    "[AC129] [AC9] a request that cannot be read, with %s, is answered, and says what to do",
    async (_, header, status, words) => {
      const answer = await harness.raw(`GET / HTTP/1.1\r\nhost: ${harness.host}\r\n${header}\r\n`);
      expect(statusOf(answer)).toBe(status);
      expect(answer).toContain(words);
      expect(answer).toContain(`Content-Length: ${(answer.split("\r\n\r\n")[1] ?? "").length}`);
    },
  );

  it("[AC9] a header that never ends is refused", async () => {
    const answer = await harness.raw(
      `GET / HTTP/1.1\r\nhost: ${harness.host}\r\nx: ${"y".repeat(64 * 1024)}`,
    );
    expect(statusOf(answer)).toBe(431);
  });
});

async function write(kernel: TestHarness["running"]["kernel"], conversation: string): Promise<string> {
  const made = await kernel.write(conversation, {
    agent: "ann",
    plan: (draft) => draft.create({ kind: "text", role: "model", text: "" }),
  });
  return (made as { id: string }).id;
}
