/** Who asks for much is served in turn, and the owner before everybody. */
import { limits } from "@blockyard/kernel";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { openReplica } from "./transports.ts";
import { Yard } from "./yard.ts";

let yard: Yard;
let block: string;
let conversation: string;

beforeAll(async () => {
  yard = await Yard.start();
  conversation = (await yard.call("conversation.create", { title: "fair" }))["conversation"] ?? "";
  const content = "a line of words\n".repeat(60_000);
  const made = await yard.call("block.create", { conversation, kind: "text", role: "user", content });
  block = made["block_id"] ?? "";
});

afterAll(() => yard.stop());

/** A socket that has asked for the block so many times at once. */
async function asking(token: string, reads: number): Promise<{ socket: WebSocket; answers: () => number }> {
  const { socket } = await openReplica(yard.running.url, token);
  let answers = 0;
  socket.on("message", (data: Buffer) => {
    if (data.includes('"answer"', 0)) answers++;
  });
  for (let id = 1_000; id < 1_000 + reads; id++)
    socket.send(JSON.stringify({ type: "call", id, tool: "block.read", input: { block_id: block } }));
  return { socket, answers: () => answers };
}

describe("fairness", () => {
  it("[AC224] an owner's call overtakes the calls that viewers have waiting", async () => {
    const sockets = await Promise.all(
      ["a", "b", "c"].map((name) => asking(yard.viewer(`crowd-${name}`), limits.callerQueue)),
    );
    const got = () => sockets.reduce((sum, { answers }) => sum + answers(), 0);
    await expect.poll(got).toBeGreaterThan(0);
    const before = got();
    await yard.call("conversation.list", {});
    // It took no longer than a few of the two hundred reads that came before it.
    expect(got() - before).toBeLessThan(20);
    for (const { socket } of sockets) socket.terminate();
  });

  it("[AC225] what a socket has asked for ends with the socket", async () => {
    const calls = async () => {
      const { body } = await yard.ask("/metrics", { token: yard.owner });
      return Number(/^blockyard_calls_waiting (\d+)$/m.exec(body)?.[1]);
    };
    const { socket, answers } = await asking(yard.viewer("leaver"), limits.callerQueue);
    await expect.poll(answers).toBeGreaterThan(0);
    socket.terminate();
    await expect.poll(calls).toBe(0);
    expect(answers()).toBeLessThan(limits.callerQueue);
  });

  it("[AC226] who asks more often than it may is told so, with the time to wait, and others go on", async () => {
    const token = yard.viewer("often");
    const ask = () => yard.ask("/v1/conversations", { token });
    expect((await ask()).status).toBe(200);
    yard.running.quotas.charge({ agent: "often", role: "viewer", by: "token" }, 64 * 1024 * 1024);
    const refused = await ask();
    expect([refused.status, JSON.parse(refused.body)]).toMatchObject([429, { problem: "busy" }]);
    expect(Number(refused.headers["retry-after"])).toBeGreaterThan(1);
    expect((await yard.ask("/v1/conversations", { token: yard.owner })).status).toBe(200);
    const other = yard.viewer("seldom");
    expect((await yard.ask("/v1/conversations", { token: other })).status).toBe(200);
  });

  it("[AC226] a socket that sends without end is cut, and may come back", async () => {
    const { socket } = await openReplica(yard.running.url, yard.viewer("chatter"));
    const closed = new Promise((gone) => socket.once("close", (code) => gone(code)));
    yard.running.quotas.charge({ agent: "chatter", role: "viewer", by: "token" }, 14 * 1024 * 1024);
    const send = () => {
      for (let n = 0; n < 200 && socket.readyState === WebSocket.OPEN; n++)
        socket.send('{"type":"ping","n":1}');
      if (socket.readyState === WebSocket.OPEN) setImmediate(send);
    };
    send();
    expect(await closed).toBe(4001);
  });

  it("[AC227] an agent that has stored enough is told to wait, over tools and streams", async () => {
    const token = yard.agent("hoard");
    const line = { conversation, kind: "text", role: "model", content: "x" };
    expect((await yard.call("block.create", line, token))["block_id"]).toContain("/hoard/");
    const op = { agent: "hoard", body: { type: "create", text: "", metadata: {} } };
    yard.running.quotas.stored(Array.from({ length: limits.blocksPerHour }, () => op as never));
    expect(await yard.call("block.create", line, token)).toMatchObject({ problem: "busy" });
    const path = "/v1/ingest?provider=claude";
    const stream = await yard.ask(path, { method: "POST", body: '{"type":"x"}\n', token });
    expect([stream.status, JSON.parse(stream.body)]).toMatchObject([429, { problem: "busy" }]);
    expect(
      (await yard.ask(`/v1/tools/block.read`, { method: "POST", body: `{"block_id":"${block}"}`, token }))
        .status,
    ).toBe(200);
    expect(await yard.call("block.create", line)).toMatchObject({ version: 1 });
  });

  it("[AC229] searches of agents leave places for the owner's: those that find none are busy, the owner's never", async () => {
    const content = "x".repeat(2_000_000);
    const made = await yard.call("block.create", { conversation, kind: "text", role: "user", content });
    const search = (token?: string) =>
      yard.call("block.search", { block_id: made["block_id"], query: "(x+x+)+y" }, token);
    const tokens = Array.from({ length: 12 }, (_, i) => yard.agent(`seeker-${i}`));
    const guests = tokens.flatMap((token) => [1, 2, 3, 4].map(() => search(token)));
    const answers: string[] = [];
    for (const guest of guests) void guest.then(({ problem = "found" }) => answers.push(problem));
    await expect.poll(() => answers.includes("busy"), { timeout: 15_000 }).toBe(true);
    expect((await search())["problem"]).not.toBe("busy");
    await Promise.all(guests);
    expect(answers.filter((each) => each !== "busy").length).toBeGreaterThan(limits.guestSearches);
  }, 60_000);
});
