/** What a draft allows and refuses: identity, tree, status, stages, metadata, sanitized texts, undo steps, records. */

import { describe, expect, it } from "vitest";
import type { Block } from "../model/block.ts";
import { type Conversation, openAsks } from "../model/conversation.ts";
import type { JsonObject } from "../model/json.ts";
import { KINDS, STATUSES, type Status } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { isProblem, type Problem } from "../model/problem.ts";
import { MemoryStore } from "../testing/memory-store.ts";
import { VirtualEnv } from "../testing/virtual-env.ts";
import type { Draft } from "./draft.ts";
import type { NewBlock } from "./draft-base.ts";
import { Kernel } from "./kernel.ts";

class World {
  readonly env = new VirtualEnv(4);
  readonly store = new MemoryStore("epoch");
  kernel = new Kernel(this.env, this.store);
  c = "";

  async open(): Promise<this> {
    this.c = (await this.kernel.createConversation("ann", "")) as string;
    return this;
  }

  do<T>(plan: (draft: Draft) => T | Problem, agent = "ann"): Promise<T | Problem> {
    return this.kernel.write(this.c, { agent, plan });
  }

  async create(spec: Partial<NewBlock> = {}, agent = "ann"): Promise<Block> {
    const block = await this.do((draft) => draft.create({ kind: "text", role: "user", ...spec }), agent);
    if (isProblem(block)) throw new Error(block.message);
    return block;
  }

  async record(): Promise<Conversation> {
    return (await this.store.conversation(this.c)) as Conversation;
  }
}

const call = { kind: "tool_call", role: "model", metadata: { toolUseId: "1", toolName: "x" } } as const;

describe("tree", () => {
  it("[K10] ids consist of conversation, agent and op; the parent is the head unless one is given", async () => {
    const world = await new World().open();
    const a = await world.create();
    const b = await world.create({}, "bob");
    const root = await world.create({ parent: null });
    const under = await world.create({ parent: a.id });
    expect([a.id, b.id]).toEqual([`${world.c}/ann/2`, `${world.c}/bob/3`]);
    expect([a.parent, b.parent, root.parent, under.parent]).toEqual([null, a.id, null, a.id]);
    expect((await world.record()).head).toBe(under.id);
    const elsewhere = (await world.kernel.createConversation("ann", "")) as string;
    const wrong = [`${world.c}/ann/99`, `${elsewhere}/ann/2`, "nonsense"];
    for (const parent of wrong) {
      expect(await world.do((draft) => draft.create({ kind: "text", role: "user", parent }))).toMatchObject({
        problem: "not_found",
      });
    }
  });

  it("[K10] results hang off their call, and so does what is below them; the head stays on the path", async () => {
    const world = await new World().open();
    const start = await world.create(call);
    const result = await world.create({
      kind: "tool_result",
      role: "tool",
      parent: start.id,
      metadata: call.metadata,
    });
    const below = await world.create({ parent: result.id });
    const note = await world.create({ side: true });
    const on = await world.create({ parent: result.id, side: false });
    expect([start, result, below, note, on].map(({ side }) => side)).toEqual([
      false,
      true,
      true,
      true,
      false,
    ]);
    expect(note.parent).toBe(start.id);
    expect((await world.record()).head).toBe(on.id);
  });
});

describe("status", () => {
  it("[K11] every pair of states: forward is allowed, nothing else", async () => {
    const allowed = new Set([
      "pending running",
      "pending done",
      "pending error",
      "running done",
      "running error",
    ]);
    for (const from of STATUSES) {
      for (const to of STATUSES) {
        const world = await new World().open();
        const block = await world.create({ status: from });
        const answer = await world.do((draft) => draft.status(block.id, to));
        if (allowed.has(`${from} ${to}`)) expect(answer).toMatchObject({ status: to, version: 2 });
        else {
          const code = from === "done" || from === "error" ? "closed" : "transition";
          expect(answer, `${from} ${to}`).toMatchObject({ problem: code, details: { from, to } });
          expect((await world.store.block(block.id))?.version).toBe(1);
        }
      }
    }
  });

  it("[K11] text makes a pending block run, whoever writes it", async () => {
    const world = await new World().open();
    const states: Status[] = [];
    for (const write of [
      (draft: Draft, id: string) => draft.append(id, "x"),
      (draft: Draft, id: string) => draft.splice(id, [{ at: 0, del: "", ins: "x" }]),
    ]) {
      const { id, status } = await world.create();
      states.push(status);
      const after = await world.do((draft) => write(draft, id), "bob");
      states.push((after as Block).status);
    }
    expect(states).toEqual(["pending", "running", "pending", "running"]);
    expect((await world.create({ text: "x" })).status).toBe("running");
  });
});

describe("stages", () => {
  const stage = (block: Block | Problem) =>
    isProblem(block) ? block.problem : `${block.metadata["stage"]} ${block.status}`;

  it("[K12] follow text, metadata and status: one start, one end", async () => {
    const world = await new World().open();
    const { id, ...created } = await world.create(call);
    expect(created).toMatchObject({ status: "pending", metadata: { stage: "start" } });
    const steps: [(draft: Draft) => Block | Problem, string][] = [
      [(draft) => draft.append(id, "{"), "streaming running"],
      [(draft) => draft.meta(id, { stage: "start" }), "transition"],
      [(draft) => draft.meta(id, { stage: "end" }), "transition"],
      [(draft) => draft.meta(id, { stage: "running", input: {} }), "running running"],
      [(draft) => draft.append(id, "}"), "running running"],
      [(draft) => draft.meta(id, { stage: "streaming", progress: "out" }), "streaming running"],
      [(draft) => draft.status(id, "done", { shortResult: "ok" }), "end done"],
      [(draft) => draft.status(id, "done"), "closed"],
      [(draft) => draft.status(id, "error"), "closed"],
      [(draft) => draft.meta(id, { stage: "running" }), "transition"],
      [(draft) => draft.append(id, "more"), "closed"],
    ];
    for (const [step, expected] of steps) expect(stage(await world.do(step))).toBe(expected);
    expect((await world.store.block(id))?.metadata).toMatchObject({ success: true, shortResult: "ok" });
  });

  it("[K12] cannot be forged at creation, and other kinds have none", async () => {
    const world = await new World().open();
    const forged = await world.create({ ...call, metadata: { ...call.metadata, stage: "end" } });
    expect(stage(forged)).toBe("start pending");
    expect(stage(await world.create({ ...call, status: "error" }))).toBe("end error");
    expect(await world.do((draft) => draft.status(forged.id, "error", { stage: "start" }))).toMatchObject({
      metadata: { stage: "end", success: false },
    });
    const text = await world.create();
    expect(await world.do((draft) => draft.meta(text.id, { stage: "running" }))).toMatchObject({
      problem: "invalid",
    });
  });

  it("[K12] random steps: never a second start, never a second end", async () => {
    const world = await new World().open();
    for (let round = 0; round < 60; round++) {
      const { id } = await world.create(call);
      const seen: string[] = ["start"];
      for (let step = 0; step < 12; step++) {
        const pick = world.env.random() % 8;
        const answer = await world.do((draft) => {
          if (pick < 2) return draft.append(id, "x");
          if (pick < 6)
            return draft.meta(id, { stage: ["start", "streaming", "running", "end"][pick - 2] as string });
          return draft.status(id, pick === 6 ? "done" : "error");
        });
        if (!isProblem(answer)) seen.push(answer.metadata["stage"] as string);
      }
      expect(seen.slice(1)).not.toContain("start");
      expect(seen.filter((each) => each === "end").length).toBeLessThanOrEqual(1);
      expect(seen.indexOf("end") === -1 || seen.indexOf("end") === seen.length - 1).toBe(true);
    }
  });
});

describe("metadata", () => {
  it("[K13] unknown keys, missing ones and wrong values are refused with the valid keys", async () => {
    const world = await new World().open();
    const rows: [NewBlock["kind"], JsonObject][] = [
      ["text", { toolName: "x" }],
      ["tool_call", { toolName: "x" }],
      ["command", {}],
      ["todo", { items: [{ content: "x", status: "later" }] }],
      ["file", { path: 7 }],
      ["thinking", { redacted: "yes" }],
    ];
    for (const [kind, metadata] of rows) {
      const answer = await world.do((draft) => draft.create({ kind, role: "tool", metadata }));
      expect(answer, kind).toMatchObject({
        problem: "invalid",
        details: { valid_keys: expect.arrayContaining(["label"]) },
      });
    }
    for (const kind of KINDS) {
      expect(
        await world.do((draft) => draft.create({ kind, role: "tool", metadata: { nonsense: 1 } })),
      ).toMatchObject({ problem: "invalid" });
    }
    expect((await world.record()).blocks).toBe(0);
  });

  it("[K13] a patch replaces whole values, null deletes, and the result is what is checked", async () => {
    const world = await new World().open();
    const { id } = await world.create({
      kind: "command",
      role: "tool",
      metadata: { command: "ls", cwd: "/", extra: { a: 1, b: 2 } },
    });
    const patched = await world.do((draft) => draft.meta(id, { cwd: null, exitCode: null, extra: { a: 3 } }));
    expect((patched as Block).metadata).toEqual({ command: "ls", exitCode: null, extra: { a: 3 } });
    expect(await world.do((draft) => draft.meta(id, { command: null }))).toMatchObject({
      problem: "invalid",
    });
    const large = { label: "x".repeat(limits.metadataChars) };
    expect(await world.do((draft) => draft.meta(id, large))).toMatchObject({
      problem: "too_large",
      details: { max_chars: limits.metadataChars },
    });
    expect((await world.store.block(id))?.version).toBe(2);
  });
});

describe("texts", () => {
  it("[K14] half characters and NUL are replaced on entry", async () => {
    const world = await new World().open();
    const { id } = await world.create({ text: "a\ud800\0" });
    await world.do((draft) => draft.append(id, "\udc00b\0"));
    expect(await world.store.text(id)).toBe("a\ufffd␀\ufffdb␀");
    expect(await world.do((draft) => draft.splice(id, [{ at: 0, del: "", ins: "\0" }]))).toMatchObject({
      problem: "invalid",
    });
  });

  it("[K20] the writer's appends stay a plain run; the first other write promotes, once", async () => {
    const world = await new World().open();
    const { id } = await world.create({ text: "a" });
    for (const text of ["b", "c"]) await world.do((draft) => draft.append(id, text));
    expect(await world.store.block(id)).toMatchObject({ promoted: false, version: 3 });
    await world.do((draft) => draft.append(id, "d"), "bob");
    await world.do((draft) => draft.append(id, "e"));
    await world.do((draft) => draft.promote(id));
    const { ops } = await world.store.log(id, { version: 0 });
    expect(ops.map(({ body }) => body.type)).toEqual([
      "create",
      "append",
      "append",
      "promote",
      "splice",
      "splice",
    ]);
    expect(await world.store.text(id)).toBe("abced");
    const untouched = await world.create({ text: "x" });
    expect(await world.do((draft) => draft.promote(untouched.id))).toMatchObject({
      promoted: true,
      version: 2,
      chars: 1,
    });
  });

  it("[K25] splices stay inside the text and between characters; a block has a largest size", async () => {
    const world = await new World().open();
    const { id } = await world.create({ text: "a😀b" });
    const rows: [number, string, string, string][] = [
      [5, "", "x", "out_of_range"],
      [-3, "", "x", "out_of_range"],
      [3, "bc", "", "out_of_range"],
      [2, "", "x", "boundary"],
      [1, "\ud83d", "", "boundary"],
    ];
    for (const [at, del, ins, code] of rows) {
      expect(
        await world.do((draft) =>
          draft.splice(id, [
            { at: 0, del: "", ins: "ok" },
            { at: at + 2, del, ins },
          ]),
        ),
      ).toMatchObject({ problem: code });
    }
    expect(await world.store.block(id)).toMatchObject({ version: 1, promoted: false });
    const half = "x".repeat(limits.blockTextChars / 2);
    const big = await world.create({ text: half });
    await world.do((draft) => draft.append(big.id, half));
    expect(await world.do((draft) => draft.append(big.id, "x"))).toMatchObject({
      problem: "too_large",
      details: { max_chars: limits.blockTextChars },
    });
    expect(
      await world.do((draft) => draft.create({ kind: "text", role: "user", text: `${half}x` })),
    ).toMatchObject({ problem: "too_large" });
  });
});

describe("units", () => {
  it("[K27] one write, one append session, or a burst of a replica's edits", async () => {
    const world = await new World().open();
    const { id } = await world.create({}, "bot");
    const append = (text: string, agent: string) => world.do((draft) => draft.append(id, text), agent);
    await append("a", "bot");
    await append("b", "bot");
    await append("c", "ann"); // promotes
    await append("d", "bot"); // the session continues
    await world.do((draft) => draft.splice(id, [{ at: 0, del: "", ins: "!" }]), "bot");
    await append("e", "bot"); // a new session
    await world.do((draft) => draft.splice(id, [{ at: 0, del: "", ins: "?" }]), "ann");
    await world.do((draft) => draft.splice(id, [{ at: 0, del: "", ins: "?" }]), "ann");
    const units = async () =>
      (await world.store.log(id, { version: 0 })).ops
        .filter(({ body }) => body.type !== "promote")
        .map(({ agent, unit }) => `${agent} ${unit}`);
    expect(await units()).toEqual([
      "bot 1",
      "bot 2",
      "bot 2",
      "ann 5",
      "bot 2",
      "bot 7",
      "bot 8",
      "ann 9",
      "ann 10",
    ]);
  });
});

describe("records", () => {
  it("[K31] name the calls that wait for an answer, until it is given or the call ends", async () => {
    const world = await new World().open();
    const first = await world.create(call);
    const second = await world.create({ ...call, metadata: { toolUseId: "2", toolName: "x" } });
    const ask = (state: string) => ({ ask: { id: "a", kind: "permission", state, input: {} } }) as JsonObject;
    const set = (block: Block, state: string) => world.do((draft) => draft.meta(block.id, ask(state)));
    expect((await world.record()).asking).toBeUndefined();
    await set(first, "asked");
    await set(second, "asked");
    await set(first, "asked");
    expect((await world.record()).asking).toEqual([second.id, first.id]);
    await set(first, "allowed");
    expect((await world.record()).asking).toEqual([second.id]);
    await world.do((draft) => draft.status(second.id, "error", { reason: "cancelled" }));
    expect((await world.record()).asking).toBeUndefined();
  });

  it("[K31] name the calls that were cut off with the last turn, as long as they can be answered", async () => {
    const world = await new World().open();
    const turn = { provider: "claude", agent: "bot", startedAt: 1, startedBy: "ann" } as const;
    const begin = (id: string) => world.do((draft) => draft.setTurn({ ...turn, id, status: "running" }));
    const asks = async (id: string) => {
      const ask = { id: "a", kind: "permission", state: "asked", input: {} } as const;
      return (await world.create({ ...call, metadata: { toolUseId: id, toolName: "x", ask } })).id;
    };
    const ends = (id: string, asked: string, reason: "interrupted" | "cancelled", more: object = {}) =>
      world.do((draft) => {
        draft.status(asked, "error", { reason });
        return draft.setTurn({ ...turn, id, status: "error", reason, ...more });
      });
    const open = async () => openAsks(await world.record());

    await begin("a");
    const stopped = await asks("1");
    expect(await open()).toEqual([stopped]);
    await ends("a", stopped, "cancelled");
    expect(await open()).toEqual([]);

    await begin("b");
    const cut = await asks("2");
    await ends("b", cut, "interrupted");
    expect(await open()).toEqual([cut]);
    expect((await world.record()).asking).toBeUndefined();
    await begin("c");
    expect(await open()).toEqual([]);
    const answered = await asks("3");
    await ends("c", answered, "interrupted");
    expect(await open()).toEqual([answered]);
    const given = { ask: { id: "a", kind: "permission", state: "allowed", input: {} } } as JsonObject;
    await world.do((draft) => draft.meta(answered, given));
    expect(await open()).toEqual([]);

    // Some agents report that they no longer ask, and then that the call is cut off; others continue the call.
    await begin("w");
    const [withdrawn, left] = [await asks("5"), await asks("6")];
    const expired = { ask: { id: "a", kind: "permission", state: "expired", input: {} } } as JsonObject;
    await world.do((draft) => draft.meta(withdrawn, expired));
    expect(await open()).toEqual([left]);
    await world.do((draft) => draft.status(withdrawn, "done"));
    await world.do((draft) => draft.meta(left, expired));
    await ends("w", left, "interrupted");
    expect(await open()).toEqual([left]);

    await begin("d");
    const brought = await asks("4");
    await ends("d", brought, "interrupted", { startedBy: undefined });
    expect(await open()).toEqual([]);
  });

  it("[K31] say how the last turn ended, unless it ended well", async () => {
    const world = await new World().open();
    const turn = { provider: "claude", agent: "bot", startedAt: 1 } as const;
    const end = async (id: string, how: object) => {
      await world.do((draft) => draft.setTurn({ ...turn, id, status: "running" }));
      expect((await world.record()).ended).toBeUndefined();
      await world.do((draft) => draft.setTurn({ ...turn, id, status: "error", ...how }));
      return (await world.record()).ended;
    };
    expect(await end("a", { reason: "cancelled" })).toBe("cancelled");
    expect(await end("b", {})).toBe("failed");
    await world.do((draft) => draft.setTurn({ ...turn, id: "c", status: "done" }));
    expect((await world.record()).ended).toBeUndefined();
  });

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, 1e10, -0.01])(
    "[K31] a turn cannot have cost %d dollars",
    async (costUsd) => {
      const world = await new World().open();
      const turn = { id: "t", provider: "claude", agent: "eve", startedAt: 0, status: "done" } as const;
      await world.do((draft) => draft.setTurn({ ...turn, costUsd: 2 }));
      await world.do((draft) => draft.setTurn({ ...turn, id: "u", costUsd }));
      expect(await world.record()).toMatchObject({ costUsd: 2, turns: 2 });
    },
  );

  it("[K31] count blocks and turns, follow the head, add usage once per turn", async () => {
    const world = await new World().open();
    const usage = (input: number) => ({ input, cacheRead: 0, cacheWrite: 0, output: 1, reasoning: 0 });
    const turn = { id: "t", provider: "claude", agent: "bot", startedAt: 1 } as const;
    await world.do((draft) => draft.setTurn({ ...turn, status: "running", usage: usage(5) }));
    expect(await world.record()).toMatchObject({
      running: ["t"],
      turns: 1,
      usage: { input: 5, output: 1 },
      costUsd: null,
      provider: "claude",
    });
    await world.do((draft) =>
      draft.setTurn({ ...turn, status: "running", usage: usage(7), costUsd: 0.25, model: "m" }),
    );
    await world.do((draft) => draft.setTurn({ ...turn, status: "done", usage: usage(9), costUsd: 0.5 }));
    expect(await world.record()).toMatchObject({
      running: [],
      turns: 1,
      usage: { input: 9, output: 1 },
      costUsd: 0.5,
      model: "m",
    });
    await world.do((draft) =>
      draft.setTurn({ ...turn, id: "u", status: "done", usage: usage(1), costUsd: 0.25 }),
    );
    expect(await world.record()).toMatchObject({ turns: 2, usage: { input: 10, output: 2 }, costUsd: 0.75 });
    await world.create();
    await world.do((draft) => {
      draft.conversation({ title: "new", metadata: { a: 1 }, session: { provider: "claude", id: "s" } });
      draft.conversation({ metadata: { a: null, b: 2 } });
      return null;
    });
    expect(await world.record()).toMatchObject({
      title: "new",
      blocks: 1,
      metadata: { b: 2 },
      sessions: { claude: "s" },
    });
    expect(await new Kernel(world.env, world.store).conversation(world.c)).toEqual(await world.record());
  });
});

describe("results that are due", () => {
  const owed = async () => {
    const world = await new World().open();
    const { id } = await world.create({ ...call, text: "{}" });
    await world.do((draft) => draft.meta(id, { stage: "running", input: {}, waiting: "result" }));
    return { world, id };
  };
  const result = { kind: "tool_result", role: "tool", metadata: { toolUseId: "1", toolName: "x" } } as const;

  it.each<[string, Partial<NewBlock>, Status, boolean]>([
    ["whole", { status: "done", text: "42" }, "done", true],
    ["an error", { status: "error", text: "no" }, "error", false],
    [
      "whole, and says that it is an error",
      { status: "done", metadata: { ...result.metadata, isError: true } },
      "error",
      false,
    ],
  ])("[K38] a result that is %s ends its call with it", async (_, spec, status, success) => {
    const { world, id } = await owed();
    await world.create({ ...result, parent: id, ...spec });
    const ended = await world.kernel.block(id);
    expect(ended).toMatchObject({ status, metadata: { stage: "end", success } });
    expect(!isProblem(ended) && ended.metadata["waiting"]).toBe(undefined);
  });

  it("[K38] one that grows ends its call when it is complete; a call that waits for none is untouched", async () => {
    const { world, id } = await owed();
    const { id: grows } = await world.create({ ...result, parent: id });
    expect(await world.kernel.block(id)).toMatchObject({ status: "running" });
    await world.do((draft) => draft.status(grows, "done"));
    expect(await world.kernel.block(id)).toMatchObject({ status: "done" });
    const own = await world.create({ ...call, text: "{}" });
    await world.create({ ...result, parent: own.id, status: "done", text: "x" });
    expect(await world.kernel.block(own.id)).toMatchObject({ status: "running" });
  });

  it("[K38] a call that ended with its agent's lease is continued, and ended, by that agent's result", async () => {
    const { world, id } = await owed();
    await world.do(
      (draft) => draft.status(id, "error", { reason: "interrupted", lapsed: true }),
      "blockyard",
    );
    expect(await world.kernel.block(id)).toMatchObject({ status: "error" });
    await world.create({ ...result, parent: id, status: "done", text: "late" });
    expect(await world.kernel.block(id)).toMatchObject({ status: "done", metadata: { success: true } });
  });

  it("[K38] a stage cannot be deleted", async () => {
    const { world, id } = await owed();
    expect(await world.do((draft) => draft.meta(id, { stage: null }))).toMatchObject({ problem: "invalid" });
    expect(await world.kernel.block(id)).toMatchObject({ metadata: { stage: "running" } });
  });
});
