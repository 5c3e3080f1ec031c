/** When connections send, and that what many of them send is encoded once. */
import { describe, expect, it } from "vitest";
import { limits } from "../../model/limits.ts";
import { isProblem } from "../../model/problem.ts";
import type { Env } from "../../ports/env.ts";
import { MemoryStore } from "../../testing/memory-store.ts";
import { settle, VirtualEnv } from "../../testing/virtual-env.ts";
import { Kernel } from "../../write/kernel.ts";
import { encodeFrame } from "../encode.ts";
import type { ServerFrame } from "../frame.ts";
import { Connection } from "./connection.ts";
import { Throttle } from "./throttle.ts";

/** A clock that only moves on request, and the requested timers. */
class Clock implements Env {
  ms = 0;
  readonly asked: { readonly delayMs: number; readonly run: () => void }[] = [];
  now = () => this.ms;
  monotonic = () => this.ms;
  random = () => 0;
  after = (delayMs: number, run: () => void) => {
    this.asked.push({ delayMs, run });
    return () => undefined;
  };
  soon = (run: () => void) => void this.asked.push({ delayMs: 0, run });

  /** Runs the next timer; returns its delay. */
  async next(): Promise<number> {
    const { delayMs, run } = this.asked.shift() ?? { delayMs: 0, run: () => undefined };
    this.ms += delayMs;
    run();
    await settle();
    return delayMs;
  }
}

describe("rounds", () => {
  const rows: [costsMs: number[], quietMs: number, delayMs: number][] = [
    [[0, 0], 0, 0],
    [[3, 3], 0, 3],
    [[3, 3], 1, 2],
    [[3, 3], 10, 0],
    [[3, 90], 0, 3],
    [[90, 3], 0, 3],
    [[500, 500], 0, limits.batchMs],
  ];
  it.each(rows)(
    "[W20] after two of %j ms, asked %d ms later, the next is %d ms away",
    async (costs, quiet, delay) => {
      const clock = new Clock();
      const throttle = new Throttle(clock);
      for (const cost of costs) {
        clock.ms += 1_000;
        throttle.join(() => {
          clock.ms += cost;
        });
        expect(await clock.next()).toBe(0);
      }
      clock.ms += quiet;
      throttle.join(() => undefined);
      expect(await clock.next()).toBe(delay);
    },
  );

  it("[W20] everybody who has joined is served once, who has left is not", async () => {
    const clock = new Clock();
    const throttle = new Throttle(clock);
    const served: string[] = [];
    const [ann, bob, eve] = ["ann", "bob", "eve"].map((name) => () => void served.push(name)) as [
      () => void,
      () => void,
      () => void,
    ];
    for (const send of [ann, bob, eve, ann]) throttle.join(send);
    throttle.leave(eve);
    await clock.next();
    expect(served).toEqual(["ann", "bob"]);
    expect(clock.asked).toEqual([]);
  });

  it("[W20] an error for one surfaces after the others were served", async () => {
    const clock = new Clock();
    const throttle = new Throttle(clock);
    const served: string[] = [];
    throttle.join(() => {
      throw new Error("a bug");
    });
    throttle.join(() => served.push("bob"));
    await clock.next();
    expect(served).toEqual(["bob"]);
    await expect(clock.next()).rejects.toThrow("a bug");
  });
});

describe("one encoding for many", () => {
  it("[W21] each frame has its own text, whatever was encoded before", async () => {
    const { heard, write } = await follow([1, 1, 7]);
    await write(["a\n", "b\n"]);
    const [first, second, other] = heard.map((frames) => frames.filter(({ type }) => type === "changes"));
    expect(first!.length).toBeGreaterThan(0);
    first!.forEach((frame, index) => {
      const twin = second![index]!;
      const third = other![index]!;
      if (frame.type !== "changes" || third.type !== "changes" || twin.type !== "changes")
        throw new Error("not told");
      expect(twin.ops).toBe(frame.ops); // the very same object, so that it is encoded once
      expect(third.ops).toBe(frame.ops);
      for (const each of [frame, third, twin, third, frame])
        expect(JSON.parse(encodeFrame(each))).toEqual(JSON.parse(JSON.stringify(each)));
    });
  });

  it("[W21] a late or delayed client gets what it lacks and nothing else", async () => {
    const { heard, write, join, hold } = await follow([1]);
    await write(["a\n"]);
    hold(0, 1);
    await join(1);
    await write(["b\n", "c\n"]);
    hold(0, 0);
    await write(["d\n"]);
    const told = (index: number) =>
      heard[index]!.flatMap((frame) =>
        frame.type === "changes" ? (JSON.parse(encodeFrame(frame)) as typeof frame).ops : [],
      )
        .map(({ body }) => (body.type === "append" ? body.text : ""))
        .join("");
    expect(told(0)).toBe("a\nb\nc\nd\n");
    expect(told(1)).toBe("b\nc\nd\n");
  });

  it("[W21] a frame that shares its ops with another but nothing else is encoded again", () => {
    const ops: [] = [];
    const frame = (seq: number): ServerFrame => ({
      type: "changes",
      sub: 1,
      seq,
      ops,
      blocks: [],
      turns: [],
    });
    expect(encodeFrame(frame(1))).toContain('"seq":1');
    expect(encodeFrame(frame(2))).toContain('"seq":2');
  });
});

/** Connections that follow one conversation, each under the number that it has chosen. */
async function follow(subs: readonly number[]) {
  const env = new VirtualEnv(1);
  const kernel = new Kernel(env, new MemoryStore("epoch"));
  const conversation = (await kernel.createConversation("claude", "t")) as string;
  const block = await kernel.write(conversation, {
    agent: "claude",
    plan: (draft) => draft.create({ kind: "text", role: "model" }),
  });
  if (isProblem(block)) throw new Error(block.message);
  const heard: ServerFrame[][] = [];
  const buffered: number[] = [];
  const join = async (sub: number) => {
    const frames: ServerFrame[] = [];
    const index = heard.push(frames) - 1;
    const pipe = {
      send: (frame: ServerFrame) => void frames.push(frame),
      buffered: () => buffered[index] ?? 0,
      close: () => undefined,
    };
    const connection = new Connection({ kernel, pipe, agent: "amy", role: "owner", call: async () => null });
    connection.receive({ type: "hello", protocol: 1 });
    connection.receive({ type: "subscribe", sub, conversation });
    await env.advance(1);
  };
  for (const sub of subs) await join(sub);
  const write = async (texts: readonly string[]) => {
    for (const text of texts) {
      await kernel.write(conversation, { agent: "claude", plan: (draft) => draft.append(block.id, text) });
      await settle();
    }
    await env.advance(limits.batchMs * 2);
  };
  const hold = (index: number, chars: number) => {
    buffered[index] = chars;
  };
  return { heard, write, join, hold };
}
