/** Connections that live for a day, with a clock that does not take one. */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { WebSocket } from "ws";
import { TestHarness } from "./harness.ts";
import { Held } from "./held.ts";

const STEP_MS = 15_000;
const LONG_STEP_MS = 60 * 60_000;
const HELD_MS = 10 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

// Only what the server itself waits for: sockets, the store and promises go on as ever. The clock also goes by itself.
const TIMERS = ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] as const;

beforeEach(() => void vi.useFakeTimers({ toFake: [...TIMERS], shouldAdvanceTime: true }));
afterEach(() => void vi.useRealTimers());

it("[AC44] a stream of every kind still delivers after a day on which nothing happened", async () => {
  const harness = await TestHarness.start();
  const held = await Held.open({
    url: harness.running.url,
    token: harness.owner,
    agentToken: harness.agent("held"),
    call: (tool, input) => harness.call(tool, input),
  });
  /** The clock moves on, and pinged clients have time to answer. */
  const pass = async (ms: number) => {
    vi.advanceTimersByTime(ms);
    await harness.ask("/health", { token: harness.owner });
  };
  await held.deliver("at once");
  let passedMs = 0;
  for (; passedMs < HELD_MS; passedMs += STEP_MS) await pass(STEP_MS);
  expect(held.pings).toBeGreaterThan(70); // two sockets, asked four times a minute
  // A comment among server-sent events, an empty line among lines of JSON.
  const beats = new Map([
    ["llm_* events", /^:.*$/gm],
    ["changes", /^:.*$/gm],
    ["block.subscribe", /\n/g],
  ]);
  for (const [name, beat] of beats) {
    const { text = "" } = held.streams.find((stream) => stream.name === name) ?? {};
    expect(`${name}: ${(text.match(beat)?.length ?? 0) > 35}`).toBe(`${name}: true`);
  }
  await held.deliver("after a while");
  // The rest of the day without those whose other ends have clocks of their own, or must answer every time.
  for (const stream of held.streams.filter(({ name }) => /socket|feed|MCP/.test(name))) {
    stream.close();
    held.streams.splice(held.streams.indexOf(stream), 1);
  }
  for (; passedMs < DAY_MS; passedMs += LONG_STEP_MS) await pass(LONG_STEP_MS);
  await held.deliver("after a day");
  expect(await held.close()).toEqual([]);
  vi.useRealTimers();
  await harness.stop();
});

it.each([
  ["takes its time", true],
  ["takes nothing", false],
])("[AC44] a client that has asked for much and %s: still there %s", async (_, isReading) => {
  const harness = await TestHarness.start();
  const { conversation } = await harness.call("conversation.create", { title: "t" });
  const content = "x".repeat(4 * 1024 * 1024);
  const { block_id } = await harness.call("block.create", {
    conversation,
    kind: "text",
    role: "user",
    content,
  });
  const socket = new WebSocket(`${harness.running.url.replace("http", "ws")}/v1/feed`, {
    headers: { authorization: `Bearer ${harness.owner}` },
  });
  const closed = new Promise<boolean>((gone) => socket.on("close", () => gone(true)));
  await new Promise((open) => socket.once("open", open));
  const send = (frame: object) => socket.send(JSON.stringify(frame));
  let bytes = 0;
  socket.on("message", (data: Buffer) => {
    bytes += data.length;
  });
  send({ type: "hello", protocol: 1 });
  send({ type: "subscribe", sub: 1, conversation });
  for (let i = 0; i < 100; i++) send({ type: "want", sub: 1, blocks: [block_id] });
  while (bytes === 0) await harness.ask("/health", { token: harness.owner });
  socket.pause();
  // Long enough that the server stops reading from it, then three liveness checks.
  for (let i = 0; i < 50; i++) await harness.ask("/health", { token: harness.owner });
  for (let looks = 0; looks < 4; looks++) {
    const before = bytes;
    if (isReading) socket.resume();
    while (isReading && bytes < before + 3 * 1024 * 1024)
      await harness.ask("/health", { token: harness.owner });
    socket.pause();
    vi.advanceTimersByTime(STEP_MS - 1_000); // by itself the clock continues too: never two checks between two readings
    await harness.ask("/health", { token: harness.owner });
  }
  const sockets = async () =>
    JSON.parse((await harness.ask("/health", { token: harness.owner })).body).sockets;
  while (!isReading && (await sockets()) > 0) vi.advanceTimersByTime(STEP_MS);
  expect(await sockets()).toBe(isReading ? 1 : 0);
  socket.terminate();
  await closed;
  vi.useRealTimers();
  await harness.stop();
});
