/** [R7] [R15] A client that reads slowly, or not at all: bounded, coalesced, then cut with a code that it resumes from. */
import { isProblem, Kernel, limits, MemoryStore, type Problem, Replica, VirtualEnv } from "@blockyard/kernel";
import { describe, expect, it } from "vitest";
import { Link } from "./link.ts";
import { Random } from "./random.ts";

const PIECE = `${"x".repeat(64 * 1024 - 1)}\n`;

async function setting() {
  const env = new VirtualEnv(1);
  const kernel = new Kernel(env, new MemoryStore("test"));
  const conversation = good(await kernel.createConversation("model", "long"));
  const { id } = good(
    await kernel.write(conversation, {
      agent: "model",
      plan: (draft) => draft.create({ kind: "text", role: "model", status: "running" }),
    }),
  );
  const replica = new Replica({ env });
  const view = replica.subscribe(conversation);
  const connect = () =>
    new Link({ kernel, isAlive: true }, replica, "ana", { env, random: new Random(1), delayMs: 1 });
  const append = async (times: number) => {
    for (let i = 0; i < times; i++) {
      good(await kernel.append(id, "model", PIECE));
      good(await kernel.drain(id, "model"));
    }
  };
  return { env, kernel, id, replica, view, connect, append };
}

function good<T>(answer: T | Problem): T {
  if (isProblem(answer)) throw new Error(answer.message);
  return answer;
}

describe("a slow reader", () => {
  it("gets what waited as few changes, all of it", async () => {
    const { env, id, view, connect, append } = await setting();
    connect();
    await env.advance(50);
    expect(view.isOpen).toBe(true);
    const changes: number[] = [];
    // Nothing leaves while time stands still: all of this waits in the outbox.
    await append(40);
    expect(40 * PIECE.length).toBeGreaterThan(limits.queueChars);
    for (let i = 0; i < 100; i++) {
      await env.advance(5);
      const version = view.blocks.get(id)?.version ?? 0;
      if (version !== changes.at(-1)) changes.push(version);
    }
    expect(changes.length).toBeLessThan(5);
    expect(view.texts.get(id)?.length).toBe(40 * PIECE.length);
  });

  it("is cut when too much waits, with a code that says so, and resumes without a gap", async () => {
    const { env, id, replica, view, connect, append } = await setting();
    const link = connect();
    await env.advance(50);
    await append(Math.ceil(limits.cutChars / PIECE.length) + 2);
    await env.advance(50);
    expect(replica.bye).toMatchObject({ code: "slow", resumable: true });
    expect(link.isOpen).toBe(false);
    const before = view.since?.seq;
    connect();
    for (let i = 0; i < 200; i++) await env.advance(20);
    expect(view.since?.seq).toBeGreaterThan(before ?? 0);
    replica.want(view, [id]);
    for (let i = 0; i < 200; i++) await env.advance(20);
    expect(view.texts.get(id)?.length).toBe((Math.ceil(limits.cutChars / PIECE.length) + 2) * PIECE.length);
  });
});
