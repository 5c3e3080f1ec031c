/** Who asks for much is served in turn, and the owner before everybody. */
import { PassThrough, Readable } from "node:stream";
import { Worker } from "node:worker_threads";
import { limits } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { WebSocket } from "ws";
import { TestHarness } from "./harness.ts";
import { openReplica } from "./transports.ts";

let harness: TestHarness;
let block: string;
let conversation: string;

beforeAll(async () => {
  harness = await TestHarness.start();
  conversation = (await harness.call("conversation.create", { title: "fair" }))["conversation"] ?? "";
  const content = "a line of words\n".repeat(60_000);
  const made = await harness.call("block.create", { conversation, kind: "text", role: "user", content });
  block = made["block_id"] ?? "";
});

afterAll(() => harness.stop());

/** A socket that has asked for the block so many times at once. */
async function asking(token: string, reads: number): Promise<{ socket: WebSocket; answers: () => number }> {
  const { socket } = await openReplica(harness.running.url, token);
  let answers = 0;
  socket.on("message", (data: Buffer) => {
    if (data.includes('"answer"', 0)) answers++;
  });
  for (let id = 1_000; id < 1_000 + reads; id++)
    socket.send(JSON.stringify({ type: "call", id, tool: "block.read", input: { block_id: block } }));
  return { socket, answers: () => answers };
}

async function metric(name: string): Promise<number> {
  const { body } = await harness.ask("/metrics", { token: harness.owner });
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(body)?.[1]);
}

describe("fairness", () => {
  it("[AC224] an owner's call overtakes the calls that viewers have waiting", async () => {
    const sockets = await Promise.all(
      ["a", "b", "c"].map((name) => asking(harness.viewer(`crowd-${name}`), limits.callerQueue)),
    );
    onTestFinished(() => {
      for (const { socket } of sockets) socket.terminate();
    });
    const got = () => sockets.reduce((sum, { answers }) => sum + answers(), 0);
    await expect.poll(got).toBeGreaterThan(0);
    const before = got();
    await harness.call("conversation.list", {});
    // It took no longer than a few of the two hundred reads that came before it.
    expect(got() - before).toBeLessThan(20);
  });

  it("[AC225] what a socket has asked for and has not begun never begins when the socket has gone", async () => {
    const { kernel } = harness.running;
    const waiting = () => metric("blockyard_calls_waiting");
    const sockets = () => metric("blockyard_sockets");
    let begun = 0;
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const read = kernel.read.bind(kernel);
    vi.spyOn(kernel, "read").mockImplementation(async (...given) => {
      begun++;
      await held; // as from a slow disk
      return read(...given);
    });
    const before = await sockets();
    const { socket } = await asking(harness.viewer("leaver"), limits.callerQueue);
    await expect.poll(waiting).toBe(limits.callerQueue);
    await expect.poll(() => begun).toBe(limits.callerCalls);
    socket.terminate();
    await expect.poll(sockets).toBe(before);
    goOn();
    await expect.poll(waiting).toBe(0);
    expect(begun).toBe(limits.callerCalls);
    vi.restoreAllMocks();
  });

  it("[AC226] who asks more often than it may is told so, with the time to wait, and others go on", async () => {
    const token = harness.viewer("often");
    const ask = (headers = {}) => harness.ask("/v1/conversations", { token, headers });
    const charged = vi.spyOn(harness.running.quotas, "charge");
    expect((await ask()).status).toBe(200);
    expect(charged).toHaveBeenCalledTimes(1);
    harness.running.quotas.charge({ agent: "often", role: "viewer", by: "token" }, 64 * 1024 * 1024);
    const looked = vi.spyOn(harness.running.auth, "caller");
    const refused = await ask();
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([429, { problem: "busy" }]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(1);
    expect(refused.headers["x-content-type-options"]).toBe("nosniff");
    // Nothing of it was looked at but whose it is and where it has come.
    expect(looked).not.toHaveBeenCalled();
    expect((await ask({ host: "evil.example" })).status).toBe(421);
    vi.restoreAllMocks();
    expect((await harness.ask("/v1/conversations", { token: harness.owner })).status).toBe(200);
    const other = harness.viewer("seldom");
    expect((await harness.ask("/v1/conversations", { token: other })).status).toBe(200);
  });

  it("[AC226] who goes on asking while it is busy may ask less often", async () => {
    const away = vi.spyOn(harness.running.quotas, "turnedAway");
    const token = harness.viewer("pusher");
    const sockets = await Promise.all([1, 2, 3, 4].map(() => asking(token, limits.callerQueue)));
    const times = () => away.mock.calls.filter(([{ agent }]) => agent === "pusher").length;
    // Most of them are answered that they are too many; what that costs is the quota's matter.
    await expect.poll(times, { timeout: 30_000 }).toBeGreaterThan(limits.callerQueue);
    for (const { socket } of sockets) socket.terminate();
    vi.restoreAllMocks();
  }, 60_000);

  it("[AC226] opening sockets counts as asking does", async () => {
    const token = harness.viewer("opener");
    const open = () =>
      new Promise((answered) => {
        const socket = new WebSocket(`${harness.running.url.replace(/^http/, "ws")}/v1/feed`, {
          headers: { authorization: `Bearer ${token}` },
        });
        socket.once("open", () => answered(101));
        socket.once("unexpected-response", (_, { statusCode }) => answered(statusCode));
        socket.on("error", () => undefined);
      });
    expect(await open()).toBe(101);
    harness.running.quotas.charge({ agent: "opener", role: "viewer", by: "token" }, 64 * 1024 * 1024);
    expect(await open()).toBe(429);
  });

  it("[AC226] a socket that sends without end is cut, and may come back", async () => {
    const { socket } = await openReplica(harness.running.url, harness.viewer("chatter"));
    const closed = new Promise((gone) => socket.once("close", (code) => gone(code)));
    harness.running.quotas.charge({ agent: "chatter", role: "viewer", by: "token" }, 14 * 1024 * 1024);
    const send = () => {
      for (let n = 0; n < 200 && socket.readyState === WebSocket.OPEN; n++)
        socket.send('{"type":"ping","n":1}');
      if (socket.readyState === WebSocket.OPEN) setImmediate(send);
    };
    send();
    expect(await closed).toBe(4001);
  });

  it("[AC227] an agent that has stored enough is told to wait, over tools and streams", async () => {
    const token = harness.agent("hoard");
    const line = { conversation, kind: "text", role: "model", content: "x" };
    expect((await harness.call("block.create", line, token))["block_id"]).toContain("/hoard/");
    const op = { agent: "hoard", body: { type: "create", text: "", metadata: {} } };
    harness.running.quotas.stored(Array.from({ length: limits.blocksPerHour }, () => op as never));
    expect(await harness.call("block.create", line, token)).toMatchObject({ problem: "busy" });
    const path = "/v1/ingest?provider=claude";
    const stream = await harness.ask(path, { method: "POST", body: '{"type":"x"}\n', token });
    expect([stream.status, JSON.parse(stream.body)]).toMatchObject([429, { problem: "busy" }]);
    expect(
      (await harness.ask(`/v1/tools/block.read`, { method: "POST", body: `{"block_id":"${block}"}`, token }))
        .status,
    ).toBe(200);
    expect(await harness.call("block.create", line)).toMatchObject({ version: 1 });
  });

  it("[AC227] [AC262] an editor's updates are refused to an agent that has stored enough, and to one whose token has ended", async () => {
    const line = { conversation, kind: "text", role: "model", content: "x" };
    const { block_id: text } = await harness.call("block.create", line);
    const { socket } = await openReplica(harness.running.url, harness.agent("editor"));
    const send = (id: number) =>
      new Promise<Record<string, unknown>>((heard) => {
        socket.on("message", (data: Buffer) => {
          const frame = JSON.parse(data.toString()) as Record<string, unknown>;
          if (frame["id"] === id) heard(frame);
        });
        const update = { type: "update", id, block: text, key: `k${id}`, update: "AAA=" };
        socket.send(JSON.stringify(update));
      });
    expect(await send(9_001)).toHaveProperty("answer");
    harness.running.quotas.kept({ agent: "editor", role: "agent", by: "token" }, limits.storedCharsPerHour);
    expect(await send(9_002)).toMatchObject({ problem: { problem: "busy" } });
    const { block_id: other } = await harness.call("block.create", line);
    const open = () =>
      new Promise<Record<string, unknown>>((heard) => {
        socket.on("message", (data: Buffer) => {
          const frame = JSON.parse(data.toString()) as Record<string, unknown>;
          if (frame["type"] === "state") heard(frame);
        });
        socket.send(JSON.stringify({ type: "sync", block: other }));
      });
    expect(await open()).toMatchObject({ problem: { problem: "busy" } });
    harness.running.auth.revoke("editor");
    expect(await send(9_003)).toMatchObject({ problem: { problem: "forbidden" } });
    expect(await harness.running.kernel.block(other ?? "")).toMatchObject({ promoted: false });
    socket.close();
  });

  it("[AC262] a stream that is under way writes nothing more when its token has ended", async () => {
    const token = harness.agent("streamer");
    const { conversation: talk = "" } = await harness.call("conversation.create", { title: "s" }, token);
    const line = (text: string) =>
      `${JSON.stringify({ type: "assistant", message: { id: text, role: "assistant", content: [{ type: "text", text }] } })}\n`;
    const texts = async () => {
      const found = await harness.running.store.blocks({ conversation: talk, order: "first", limit: 9 });
      return Promise.all(found.map(({ id }) => harness.running.store.text(id)));
    };
    const body = new PassThrough();
    const sent = fetch(`${harness.running.url}/v1/ingest?provider=claude&conversation=${talk}`, {
      ...{ method: "POST", headers: { authorization: `Bearer ${token}` }, duplex: "half" },
      body: Readable.toWeb(body) as ReadableStream,
    } as RequestInit).then(
      ({ status }) => status,
      () => 403,
    );
    for (let i = 0; i < 4; i++) body.write(line("before"));
    await expect.poll(texts, { timeout: 30_000 }).toContain("before");
    harness.running.auth.revoke("streamer");
    body.write(line("after"));
    expect(await sent).toBe(403);
    expect(await texts()).not.toContain("after");
    body.destroy();
  });

  it("[AC227] pictures, streams and conversations count as what an agent stores", async () => {
    const account = (name: string) => ({ agent: name, role: "agent", by: "token" }) as const;
    const full = (name: string) => harness.running.quotas.mayStore(account(name));
    const left = (name: string, chars: number) =>
      harness.running.quotas.kept(account(name), limits.storedCharsPerHour - chars);
    const ways: readonly (readonly [string, (token: string) => Promise<unknown>])[] = [
      [
        "/v1/blobs",
        (token) =>
          fetch(`${harness.running.url}/v1/blobs`, {
            ...{ method: "POST", headers: { authorization: `Bearer ${token}` } },
            body: Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(2_000)]),
          }),
      ],
      [
        "/v1/ingest",
        (token) => {
          const body = "\n".repeat(20_000); // of which no block is made
          return harness.ask("/v1/ingest?provider=claude", { method: "POST", body, token });
        },
      ],
      [
        "conversation.create",
        (token) => harness.call("conversation.create", { title: "x".repeat(100) }, token),
      ],
      ["turn.begin", (token) => harness.call("turn.begin", { conversation, model: "x".repeat(100) }, token)],
      [
        "file.open",
        (token) => harness.call("file.open", { path: `f${token.slice(0, 4)}.txt`, create: true }, token),
      ],
    ];
    for (const [name, way] of ways) {
      const agent = `fills-${name.replaceAll(/\W/g, "")}`;
      const token = harness.agent(agent);
      left(agent, name === "/v1/ingest" ? 10_000 : 100);
      expect([name, full(agent)]).toEqual([name, undefined]);
      await way(token);
      expect([name, full(agent)?.problem]).toEqual([name, "busy"]);
      const before = await harness.state();
      await way(token);
      expect([name, await harness.state()]).toEqual([name, before]);
    }
  });

  it("[AC229] searches of agents leave places for the owner's: it is answered, never busy, before theirs are through", async () => {
    const content = "a line of words\n".repeat(10);
    const made = await harness.call("block.create", { conversation, kind: "text", role: "user", content });
    const search = (query: string, token?: string) =>
      harness.call("block.search", { block_id: made["block_id"], query }, token);
    await search("warm"); // its thread is there
    // The thread has a first search, and others wait for it.
    const begun: string[] = [];
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const post = Worker.prototype.postMessage;
    vi.spyOn(Worker.prototype, "postMessage").mockImplementation(function (this: Worker, ...given) {
      const { type, query } = given[0] as { type?: string; query?: { pattern?: string } };
      if (type !== "match") return post.apply(this, given);
      begun.push(query?.pattern ?? "");
      void held.then(() => post.apply(this, given));
    });
    const tokens = Array.from({ length: 12 }, (_, i) => harness.agent(`seeker-${i}`));
    const guests = tokens.flatMap((token) => [1, 2, 3, 4].map(() => search("theirs", token)));
    const answers: string[] = [];
    for (const guest of guests) void guest.then(({ problem = "found" }) => answers.push(problem));
    await expect.poll(() => answers.includes("busy"), { timeout: 10_000, interval: 5 }).toBe(true);
    const before = await metric("blockyard_calls_total");
    const own = search("owners");
    await expect.poll(() => metric("blockyard_calls_total")).toBeGreaterThan(before);
    await metric("blockyard_calls_total"); // by now it waits for the thread
    goOn();
    expect(await own).not.toHaveProperty("problem");
    await Promise.all(guests);
    // It waits for the one that is under way, and overtakes the sixteen that wait.
    expect(begun.indexOf("owners")).toBe(1);
    expect(begun.length).toBeGreaterThan(limits.guestSearches);
    vi.restoreAllMocks();
  }, 60_000);
});
