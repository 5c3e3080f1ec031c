/**
 * Which session a turn goes on with, and what is new to it. The real agents are in test/e2e/clis/told.test.ts.
 */
import { type BlockId, contextOf, Ingest, pathIn } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { bytesOf, logFilesOf, type Recording, recordings } from "../../../../test/recordings.ts";
import { StreamIngest } from "../ingest/ingest-stream.ts";
import { must, SessionHarness } from "../testing/session-harness.ts";
import { AGENTS } from "./agents.ts";
import { isShared } from "./briefing.ts";

let harness: SessionHarness;
beforeEach(async () => {
  harness = await SessionHarness.open();
});

const turn: SessionHarness["turn"] = (...given) => harness.turn(...given);

describe("a session that goes on", () => {
  it("[D12] knows its own turns: nothing is told", async () => {
    const first = await turn("one");
    expect(first).toMatchObject({ isNew: true, news: [] });
    expect(await turn("two")).toMatchObject({ isNew: false, session: first.session, news: [] });
    expect(await turn("three")).toMatchObject({ isNew: false, session: first.session, news: [] });
  });

  it("[D12] is told what others wrote since, once", async () => {
    const first = await turn("one");
    await turn("two", { provider: "codex" });
    await harness.remark("a remark");
    const third = await turn("three");
    expect(third).toMatchObject({ session: first.session, news: ["two", "re: two", "a remark"] });
    expect((await turn("four")).news).toEqual([]);
    const codex = await turn("five", { provider: "codex" });
    expect(codex.news).toEqual(["a remark", "three", "re: three", "four", "re: four"]);
    expect((await turn("six")).news).toEqual(["five", "re: five"]);
  });

  it("[D12] is told how its own words, its prompts and others' words read now, each change once", async () => {
    const first = await turn("one");
    const other = await harness.remark("a remark");
    await turn("two");
    await harness.edit(first.answer, "re: eins");
    await harness.edit(first.prompt, "eins");
    await harness.edit(other, "a better remark");
    const third = await turn("three");
    expect(third.session).toBe(first.session);
    expect(third.news).toEqual(["changed: eins", "changed: re: eins", "changed: a better remark"]);
    expect((await turn("four")).news).toEqual([]);
    await harness.edit(first.answer, "re: uno");
    expect((await turn("five")).news).toEqual(["changed: re: uno"]);
  });

  it("[D12] is not told again what somebody has only looked at", async () => {
    const first = await turn("one");
    must(await harness.kernel.mergeState(first.answer, "ann"));
    expect((await turn("two")).news).toEqual([]);
  });

  it("[D12] is not told of an edit that was undone, unless it was told of the edit", async () => {
    const first = await turn("one", { meanwhile: (answer) => harness.edit(answer, "re: eins") });
    await harness.tool("block.undo", { block_id: first.answer });
    await harness.edit(first.prompt, "eins");
    await harness.tool("block.undo", { block_id: first.prompt });
    expect((await turn("two")).news).toEqual([]);
    await harness.edit(first.answer, "re: uno");
    expect((await turn("three")).news).toEqual(["changed: re: uno"]);
    await harness.tool("block.undo", { block_id: first.answer });
    expect((await turn("four")).news).toEqual(["changed: re: one"]);
  });

  it("[D12] [D53] is not told a plan that it got with the answer; what is written into it later is", async () => {
    const first = await turn("plan it");
    await harness.edit(first.answer, "the better plan");
    const ask = { id: "a", kind: "plan", state: "allowed", plan: first.answer };
    const made = { kind: "tool_call", role: "model", status: "done", side: false } as const;
    const metadata = { turn: first.turn, toolUseId: "t", toolName: "ExitPlanMode" };
    const approved = { ...ask, answer: { text: "the better plan" } };
    must(
      await harness.kernel.write(harness.conversation, {
        agent: "claude",
        plan: (draft) => draft.create({ ...made, text: "{}", metadata: { ...metadata, ask: approved } }),
      }),
    );
    expect((await turn("two")).news).toEqual([]);
    await harness.edit(first.answer, "the best plan");
    expect((await turn("three")).news).toEqual(["changed: the best plan"]);
  });

  it("[D12] is told the words in which its process died, once; not those in which it was stopped", async () => {
    await turn("one", { end: "died" });
    expect((await turn("two", { end: "stopped" })).news).toEqual(["cut: re: one"]);
    expect((await turn("three")).news).toEqual([]);
  });

  it("[D12] is told what is included, and again when it has changed", async () => {
    const remote = must(await harness.kernel.createConversation("ann", ""));
    const block_id = await harness.remark("planted in May", remote);
    const first = await turn("one");
    await harness.tool("conversation.include", { conversation: harness.conversation, block_id });
    const news = ["included: planted in May"];
    expect(await turn("two")).toMatchObject({ session: first.session, news });
    expect((await turn("three")).news).toEqual([]);
    await harness.edit(block_id, "planted in June");
    expect((await turn("four")).news).toEqual(["included: planted in June"]);
    await turn("five", { provider: "codex" });
    expect((await turn("six")).news).toEqual(["five", "re: five"]);
    await harness.tool("conversation.include", {
      conversation: harness.conversation,
      block_id,
      included: false,
    });
    const after = await turn("seven");
    expect(after.from).toEqual({ session: first.session, turn: first.turn });
    expect(after.news.join()).not.toContain("planted");
  });
});

describe("a session that cannot go on", () => {
  it("[D12] knows what was included from a conversation that has been deleted: a new one is not told of it", async () => {
    const elsewhere = must(await harness.kernel.createConversation("ann", ""));
    const block_id = await harness.remark("planted in May", elsewhere);
    await harness.tool("conversation.include", { conversation: harness.conversation, block_id });
    expect((await turn("one")).news).toEqual(["included: planted in May"]);
    must(await harness.kernel.deletions.delete(elsewhere, "ann"));
    const after = await turn("two");
    expect(after.isNew).toBe(true);
    expect(after.news.join()).not.toContain("planted");
  });

  it("[D12] knows another way: each way has its own", async () => {
    const first = await turn("one");
    const second = await turn("two");
    const other = await turn("another two", { parent: first.answer });
    const from = { session: first.session, turn: first.turn };
    expect(other).toMatchObject({ isNew: false, from, news: [] });
    expect(other.session).not.toBe(first.session);
    expect(await turn("another three")).toMatchObject({ session: other.session, news: [] });
    const back = await turn("three", { parent: second.answer });
    expect(back).toMatchObject({ session: first.session, from: undefined, news: [] });
    const third = await turn("a third two", { parent: first.answer });
    expect(third).toMatchObject({ from, news: [] });
  });

  it("[D12] is copied up to the turn before; a copy of a copy knows what both do", async () => {
    const first = await turn("one");
    const second = await turn("two");
    const failed = await turn("three", { end: "failed" });
    const again = await turn("three", { parent: second.answer });
    expect(again).toMatchObject({ from: { session: first.session, turn: second.turn }, news: [] });
    const more = await turn("four");
    const other = await turn("another four", { parent: again.answer });
    expect(other).toMatchObject({ from: { session: again.session, turn: again.turn }, news: [] });
    expect(await turn("five")).toMatchObject({ session: other.session, news: [] });
    // What it has failed in has no end at which it could be cut.
    const behind = await turn("behind", { parent: failed.answer });
    expect(behind).toMatchObject({ session: first.session, from: undefined, news: [] });
    const early = await turn("early", { parent: first.answer });
    expect(early).toMatchObject({ from: { session: first.session, turn: first.turn }, news: [] });
    expect(await turn("late", { parent: more.answer })).toMatchObject({ session: again.session, news: [] });
  });

  it("[D12] is copied without what was pruned since, and told what it does not know", async () => {
    const first = await turn("one");
    const second = await turn("two");
    await harness.remark("a remark");
    await turn("three");
    await harness.tool("conversation.prune", { block_id: second.answer });
    await harness.edit(first.answer, "re: eins");
    const fourth = await turn("four");
    expect(fourth.from).toEqual({ session: first.session, turn: first.turn });
    expect(fourth.news).toEqual(["changed: re: eins", "two", "a remark", "three", "re: three"]);
    expect((await turn("five")).news).toEqual([]);
  });

  it("[D12] of an agent that cannot copy it is begun anew", async () => {
    const provider = "codex";
    const first = await turn("one", { provider });
    await turn("two", { provider });
    const other = await turn("another two", { provider, parent: first.answer });
    expect(other).toMatchObject({ isNew: true, from: undefined, news: ["one", "re: one"] });
  });

  it("[D12] knows what was pruned: its own, or what it was told", async () => {
    const first = await turn("one");
    await turn("two");
    await harness.tool("conversation.prune", { block_id: first.answer });
    const third = await turn("three");
    expect(third).toMatchObject({ isNew: true, news: ["one", "two", "re: two"] });
    const other = await harness.remark("a remark");
    const fourth = await turn("four");
    expect(fourth).toMatchObject({ session: third.session, news: ["a remark"] });
    await harness.tool("conversation.prune", { block_id: other });
    expect((await turn("five")).from).toEqual({ session: third.session, turn: third.turn });
    expect((await turn("six")).isNew).toBe(false);
  });

  it("[D12] what was pruned before it was told of keeps nothing from going on", async () => {
    const first = await turn("one");
    const other = await harness.remark("a remark");
    await harness.tool("conversation.prune", { block_id: other });
    expect(await turn("two")).toMatchObject({ session: first.session, news: [] });
    await harness.tool("conversation.prune", { block_id: other, pruned: false });
    expect(await turn("three")).toMatchObject({ session: first.session, news: ["a remark"] });
  });

  it.each(["claude", "codex"])(
    "[D11] [D12] was lost by %s: the next is told everything",
    async (provider) => {
      const first = await turn("one", { provider });
      const lost = await turn("two", { provider, end: "lost" });
      expect(lost.session).toBe(first.session);
      const third = await turn("three", { provider });
      expect(third).toMatchObject({ isNew: true, news: ["one", "re: one", "two"] });
      expect(await turn("four", { provider })).toMatchObject({ session: third.session, news: [] });
    },
  );
});

it("[D12] a prompt that never reached the agent is told with the next", async () => {
  const first = await turn("one");
  await harness.remark("a remark");
  await turn("two", { end: "unheard" });
  const third = await turn("three");
  expect(third).toMatchObject({ session: first.session, news: ["a remark", "two"] });
  await turn("four", { end: "failed" });
  expect((await turn("five")).news).toEqual([]);
});

it("[D12] a fork into a new conversation has no session, and is told the path", async () => {
  await turn("one");
  const second = await turn("two");
  await turn("three");
  harness.conversation = (
    await harness.tool("conversation.fork", { block_id: second.answer, into_new: true })
  )["conversation"] as string;
  const forked = await turn("another three");
  expect(forked).toMatchObject({ isNew: true, news: ["one", "re: one", "two", "re: two"] });
  expect(await turn("four")).toMatchObject({ session: forked.session, news: [] });
});

it("[D12] [L11] one that began afresh is told nothing of what was before, then or later", async () => {
  const first = await turn("one");
  const fresh = await turn("two", { fresh: true });
  expect(fresh).toMatchObject({ isNew: true, news: [] });
  await harness.edit(first.answer, "re: eins");
  await harness.tool("conversation.prune", { block_id: first.prompt });
  expect(await turn("three")).toMatchObject({ session: fresh.session, news: [] });
});

it.each([0, 1])(
  "[D12] one that was cleared is told nothing of what was before, whoever's turn says it",
  async (at) => {
    await turn("one");
    const notice = { kind: "text", role: "system", side: false, status: "done" } as const;
    const metadata = { turn: `turn-${harness.turns + at}`, notice: "reset" };
    const cleared = await turn("/clear", {
      parent: must(
        await harness.kernel.write(harness.conversation, {
          agent: "claude",
          plan: (draft) => draft.create({ ...notice, text: "Conversation restarted", metadata }),
        }),
      ).id,
      end: "other",
    });
    expect(await turn("three")).toMatchObject({ session: cleared.session, news: [] });
  },
);

type Act =
  | {
      readonly act: "turn";
      readonly provider: string;
      readonly end: "done" | "failed" | "unheard";
      readonly edits: boolean;
    }
  | {
      readonly act: "edit" | "prune" | "restore" | "look" | "fork" | "include" | "exclude" | "revise";
      readonly at: number;
    }
  | { readonly act: "remark" };

const at = fc.nat(1_000);
const acts = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      act: fc.constant("turn" as const),
      provider: fc.constantFrom("claude", "codex"),
      end: fc.constantFrom(
        "done" as const,
        "done" as const,
        "done" as const,
        "failed" as const,
        "unheard" as const,
      ),
      edits: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constantFrom(
        "edit" as const,
        "prune" as const,
        "restore" as const,
        "look" as const,
        "fork" as const,
        "fork" as const,
        "include" as const,
        "exclude" as const,
        "revise" as const,
      ),
      at,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ act: "remark" as const }) },
);

/** What each session knows, block by block: the words as it said, was asked or was told them last. */
class Memory {
  readonly #known = new Map<string, Map<BlockId, string>>();
  /** What a session knew at the end of a turn. */
  readonly #then = new Map<string, ReadonlyMap<BlockId, string>>();
  readonly seen = { turns: 0, went: 0, told: 0, began: 0, copied: 0 };
  #words = 0;

  async play(act: Act): Promise<void> {
    const { conversation, kernel } = harness;
    if (act.act === "remark") return void (await harness.remark(this.#word()));
    if (act.act === "turn") return this.#turn(act);
    const remote = ["include", "exclude", "revise"].includes(act.act);
    const where = remote ? library : conversation;
    const blocks = must(await kernel.blocks({ conversation: where, order: "first", limit: 1_000 }));
    const on = blocks.filter(({ side }) => !side);
    const block = on[act.at % Math.max(1, on.length)];
    if (!block) return;
    const block_id = block.id;
    if (act.act === "edit" || act.act === "revise") await harness.edit(block_id, this.#word());
    if (act.act === "look") must(await kernel.mergeState(block_id, "ann"));
    if (act.act === "fork") await harness.tool("conversation.fork", { block_id });
    if (act.act === "prune" || act.act === "restore")
      await harness.tool("conversation.prune", { block_id, pruned: act.act === "prune" });
    if (act.act === "include" || act.act === "exclude")
      await harness.tool("conversation.include", { conversation, block_id, included: act.act === "include" });
  }

  #word(): string {
    return `word ${++this.#words}`;
  }

  async #turn({ provider, end, edits }: Act & { readonly act: "turn" }): Promise<void> {
    const said = this.#word();
    const meanwhile = async (answer: BlockId) => edits && (await harness.edit(answer, this.#word()));
    const before = must(await harness.kernel.conversation(harness.conversation)).head;
    const context = must(await contextOf(harness.kernel, harness.conversation, before ?? undefined));
    const went = await turn(said, { provider, end, meanwhile });
    const earlier = went.from ? this.#then.get(went.from.turn) : this.#known.get(went.session);
    const known = new Map(went.isNew ? [] : earlier);
    for (const [id, text] of went.told) known.set(id, text);
    const wanted = context.filter(({ block, included }) => included || isShared(block));
    expect(known).toEqual(new Map(wanted.map(({ block }) => [block.id, block.text])));
    this.seen.turns++;
    this.seen.told += went.told.size;
    this.seen[went.isNew ? "began" : went.from ? "copied" : "went"]++;
    if (end === "unheard") return;
    known.set(went.prompt, said).set(went.answer, `re: ${said}`);
    this.#known.set(went.session, known);
    this.#then.set(went.turn, new Map(known));
  }
}

let library: string;

it("[D12] whatever happens, a turn's session knows exactly the context, each block as it reads", {
  timeout: 60_000,
}, async () => {
  const seen = { turns: 0, went: 0, told: 0, began: 0, copied: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 3, maxLength: 40, size: "max" }), async (all) => {
      harness = await SessionHarness.open();
      library = must(await harness.kernel.createConversation("ann", ""));
      for (const text of ["a", "b", "c"]) await harness.remark(text, library);
      const memory = new Memory();
      for (const act of all) await memory.play(act);
      for (const key of ["turns", "went", "told", "began", "copied"] as const) seen[key] += memory.seen[key];
    }),
    { numRuns: 60 },
  );
  expect(seen.went).toBeGreaterThan(40);
  expect(seen.began).toBeGreaterThan(40);
  expect(seen.told).toBeGreaterThan(200);
  expect(seen.copied).toBeGreaterThan(3);
});

async function ingested(recording: Recording): Promise<void> {
  const { conversation } = harness;
  const provider = providers.get(recording.provider);
  if (!provider) throw new Error(recording.provider);
  if (recording.source === "log") {
    const ingest = new Ingest(harness.kernel, { conversation, agent: provider.name, keep: true, from: 1 });
    await ingest.open();
    await ingest.push(provider.importLog?.(logFilesOf(recording), "log") ?? []);
    await ingest.finish();
  } else {
    const stream = new StreamIngest(harness.kernel, { conversation, agent: provider.name, provider });
    await stream.open();
    await stream.push(bytesOf(recording));
    await stream.end();
  }
}

const ours = recordings.filter(({ provider }) => AGENTS.has(provider));

it.each(ours.map((each) => [each.name, each] as const))(
  "[AC123] %s: a session that was read in is not resumed, and a new one is told what was said",
  async (_, recording) => {
    await ingested(recording);
    const { head, sessions } = must(await harness.kernel.conversation(harness.conversation));
    const blocks = must(await harness.kernel.allBlocks(harness.conversation));
    const path = head === null ? [] : pathIn(blocks, head);
    const next = await turn("and now", { provider: recording.provider });
    expect(next.isNew).toBe(true);
    expect(next.session).not.toBe(sessions[recording.provider]);
    expect([...next.told.keys()]).toEqual(path.filter((block) => isShared(block)).map(({ id }) => id));
    const later = await turn("and then", { provider: recording.provider });
    expect(later).toMatchObject({ isNew: false, session: next.session });
  },
);
