/**
 * Which session a turn goes on with, and what is new to it: on a kernel in memory, with turns that are written as the
 * agents' streams write them. The real agents are in test/e2e/clis/told.test.ts.
 */
import {
  type BlockId,
  Cursors,
  callTool,
  Ingest,
  inlineMatcher,
  isProblem,
  Kernel,
  MemoryStore,
  VirtualEnv,
} from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { beforeEach, describe, expect, it } from "vitest";
import { bytesOf, logFilesOf, type Recording, recordings } from "../../../../test/recordings.ts";
import { StreamIngest } from "../ingest-stream.ts";
import { AGENTS, type Agent } from "./agents.ts";
import { beginningOf, markOf } from "./session.ts";
import { tell } from "./told.ts";

let kernel: Kernel;
let conversation: string;
let names: number;
beforeEach(async () => {
  kernel = new Kernel(new VirtualEnv(1), new MemoryStore("m"));
  conversation = must(await kernel.createConversation("ann", ""));
  names = 0;
});

function must<T>(value: T): Exclude<T, { problem: string }> {
  if (isProblem(value)) throw new Error(value.message);
  return value as Exclude<T, { problem: string }>;
}

async function tool(name: string, input: object): Promise<Record<string, unknown>> {
  const matcher = inlineMatcher(() => 0);
  const onFault = (_: string, error: unknown) => {
    throw error;
  };
  const caller = { agent: "ann", role: "owner" } as const;
  const call = { kernel, caller, matcher, cursors: new Cursors(kernel), onFault };
  return must(await callTool(call, name, input)) as never;
}

interface Played {
  readonly provider?: string;
  readonly parent?: BlockId;
  readonly fresh?: boolean;
  /** How the turn ends, `other`: in another session; `lost` and `unheard` never get as far as one. */
  readonly end?: "done" | "failed" | "other" | "lost" | "unheard";
}

/** The session of a turn, and the texts that were new to it. */
interface Outcome {
  readonly session: string;
  readonly isNew: boolean;
  readonly news: readonly string[];
  readonly prompt: BlockId;
  readonly answer: BlockId;
}

const LOST: Readonly<Record<string, string>> = {
  claude: "No conversation found with session ID: s",
  codex: "no rollout found for thread id s",
};

/** A turn as the server plays it: opened with its prompt, told what is new, and answered by the agent's stream. */
async function turn(said: string, played: Played = {}): Promise<Outcome> {
  const { provider = "claude", parent, fresh = false, end = "done" } = played;
  const id = `turn-${++names}`;
  const prompt = must(
    await kernel.write(conversation, {
      agent: "ann",
      plan: (draft) => {
        draft.setTurn({ id, provider, agent: provider, status: "running", startedAt: 0 });
        const place = parent === undefined ? {} : { parent };
        const spec = { kind: "text", role: "user", side: false, status: "done" } as const;
        return draft.create({ ...spec, text: said, metadata: { turn: id }, ...place });
      },
    }),
  ).id;
  const request = { conversation, provider, prompt: said, fresh };
  const start = { id, request, by: "ann", prompt };
  const beginning = must(await beginningOf(kernel, AGENTS.get(provider) as Agent, start));
  const told = must(await tell(beginning.news, false, (each) => kernel.whole(each)));
  const mark = markOf(beginning, told, fresh);
  const plan = (draft: Parameters<Parameters<Kernel["write"]>[1]["plan"]>[0]) =>
    mark === undefined ? null : draft.meta(prompt, { told: mark });
  must(await kernel.write(conversation, { agent: "ann", plan: plan as never }));
  const session = (end === "other" ? undefined : beginning.session) ?? `session-${names}`;
  const ingest = new Ingest(kernel, { conversation, agent: provider, turn: id, parent: prompt });
  await ingest.open();
  const isHeard = end !== "lost" && end !== "unheard";
  const error = end === "lost" ? { error: LOST[provider] as string } : {};
  await ingest.push([
    ...(isHeard ? ([{ type: "session", provider, sessionId: session }] as const) : []),
    { type: "turn-start", turn: "t", provider, ...(isHeard ? { sessionId: session } : {}) },
    ...(isHeard
      ? ([
          { type: "block-start", key: "a", kind: "text", role: "model", metadata: {}, text: `re: ${said}` },
          { type: "block-end", key: "a", status: "done" },
        ] as const)
      : []),
    { type: "turn-end", turn: "t", status: end === "done" || end === "other" ? "done" : "error", ...error },
  ]);
  await ingest.finish();
  const news = beginning.news.map(async ({ block, how }) => {
    const { text } = must(await kernel.whole(block.id));
    return how === "new" ? text : `${how}: ${text}`;
  });
  const answer = ingest.idOf("a") ?? prompt;
  return {
    session,
    isNew: beginning.session === undefined,
    news: await Promise.all(news),
    prompt,
    answer,
  };
}

async function edit(block_id: BlockId, content: string): Promise<void> {
  await tool("block.edit", {
    block_id,
    operations: [{ op: "replace", start_line: 0, end_line: 1, content }],
  });
}

async function remark(content: string, where = conversation): Promise<BlockId> {
  const made = { conversation: where, kind: "text", role: "user", status: "done", content };
  return (await tool("block.create", made))["block_id"] as BlockId;
}

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
    await remark("a remark");
    const third = await turn("three");
    expect(third).toMatchObject({ session: first.session, news: ["two", "re: two", "a remark"] });
    expect((await turn("four")).news).toEqual([]);
    const codex = await turn("five", { provider: "codex" });
    expect(codex.news).toEqual(["a remark", "three", "re: three", "four", "re: four"]);
    expect((await turn("six")).news).toEqual(["five", "re: five"]);
  });

  it("[D12] is told how its own words, its prompts and others' words read now, each change once", async () => {
    const first = await turn("one");
    const other = await remark("a remark");
    await turn("two");
    await edit(first.answer, "re: eins");
    await edit(first.prompt, "eins");
    await edit(other, "a better remark");
    const third = await turn("three");
    expect(third.session).toBe(first.session);
    expect(third.news).toEqual(["changed: eins", "changed: re: eins", "changed: a better remark"]);
    expect((await turn("four")).news).toEqual([]);
    await edit(first.answer, "re: uno");
    expect((await turn("five")).news).toEqual(["changed: re: uno"]);
  });

  it("[D12] is not told again what somebody has only looked at", async () => {
    const first = await turn("one");
    must(await kernel.mergeState(first.answer, "ann"));
    expect((await turn("two")).news).toEqual([]);
  });

  it("[D12] is told what is included, and again when it has changed", async () => {
    const elsewhere = must(await kernel.createConversation("ann", ""));
    const block_id = await remark("planted in May", elsewhere);
    const first = await turn("one");
    await tool("conversation.include", { conversation, block_id });
    const news = ["included: planted in May"];
    expect(await turn("two")).toMatchObject({ session: first.session, news });
    expect((await turn("three")).news).toEqual([]);
    await edit(block_id, "planted in June");
    expect((await turn("four")).news).toEqual(["included: planted in June"]);
    await turn("five", { provider: "codex" });
    expect((await turn("six")).news).toEqual(["five", "re: five"]);
    await tool("conversation.include", { conversation, block_id, included: false });
    const after = await turn("seven");
    expect(after.isNew).toBe(true);
    expect(after.news.join()).not.toContain("planted");
  });
});

describe("a session that cannot go on", () => {
  it("[D12] knows another way: each way has its own", async () => {
    const first = await turn("one");
    const second = await turn("two");
    const other = await turn("another two", { parent: first.answer });
    expect(other).toMatchObject({ isNew: true, news: ["one", "re: one"] });
    expect(await turn("another three")).toMatchObject({ session: other.session, news: [] });
    const back = await turn("three", { parent: second.answer });
    expect(back).toMatchObject({ session: first.session, news: [] });
  });

  it("[D12] knows what was pruned: its own, or what it was told", async () => {
    const first = await turn("one");
    await turn("two");
    await tool("conversation.prune", { block_id: first.answer });
    const third = await turn("three");
    expect(third).toMatchObject({ isNew: true, news: ["one", "two", "re: two"] });
    const other = await remark("a remark");
    const fourth = await turn("four");
    expect(fourth).toMatchObject({ session: third.session, news: ["a remark"] });
    await tool("conversation.prune", { block_id: other });
    expect((await turn("five")).isNew).toBe(true);
    expect((await turn("six")).isNew).toBe(false);
  });

  it("[D12] what was pruned before it was told of keeps nothing from going on", async () => {
    const first = await turn("one");
    const other = await remark("a remark");
    await tool("conversation.prune", { block_id: other });
    expect(await turn("two")).toMatchObject({ session: first.session, news: [] });
    await tool("conversation.prune", { block_id: other, pruned: false });
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
  await remark("a remark");
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
  conversation = (await tool("conversation.fork", { block_id: second.answer, into_new: true }))[
    "conversation"
  ] as string;
  const forked = await turn("another three");
  expect(forked).toMatchObject({ isNew: true, news: ["one", "re: one", "two", "re: two"] });
  expect(await turn("four")).toMatchObject({ session: forked.session, news: [] });
});

it("[D12] [L11] one that began afresh is told nothing of what was before, then or later", async () => {
  const first = await turn("one");
  const fresh = await turn("two", { fresh: true });
  expect(fresh).toMatchObject({ isNew: true, news: [] });
  await edit(first.answer, "re: eins");
  await tool("conversation.prune", { block_id: first.prompt });
  expect(await turn("three")).toMatchObject({ session: fresh.session, news: [] });
});

it.each([0, 1])(
  "[D12] one that was cleared is told nothing of what was before, whoever's turn says it",
  async (at) => {
    await turn("one");
    const notice = { kind: "text", role: "system", side: false, status: "done" } as const;
    const metadata = { turn: `turn-${names + at}`, notice: "reset" };
    const cleared = await turn("/clear", {
      parent: must(
        await kernel.write(conversation, {
          agent: "claude",
          plan: (draft) => draft.create({ ...notice, text: "Conversation started anew", metadata }),
        }),
      ).id,
      end: "other",
    });
    expect(await turn("three")).toMatchObject({ session: cleared.session, news: [] });
  },
);

async function ingested(recording: Recording): Promise<void> {
  const provider = providers.get(recording.provider);
  if (!provider) throw new Error(recording.provider);
  if (recording.source === "log") {
    const ingest = new Ingest(kernel, { conversation, agent: provider.name, keep: true, from: 1 });
    await ingest.open();
    await ingest.push(provider.importLog?.(logFilesOf(recording), "log") ?? []);
    await ingest.finish();
  } else {
    const stream = new StreamIngest(kernel, { conversation, agent: provider.name, provider });
    await stream.open();
    await stream.push(bytesOf(recording));
    await stream.end();
  }
}

const ours = recordings.filter(({ provider }) => AGENTS.has(provider));

it.each(ours.map((each) => [each.name, each] as const))(
  "[D12] %s: a session that was read in goes on, and knows all of it",
  async (_, recording) => {
    await ingested(recording);
    const session = must(await kernel.conversation(conversation)).sessions[recording.provider];
    const next = await turn("and now", { provider: recording.provider });
    expect(next).toMatchObject({ isNew: session === undefined, news: [] });
    if (session !== undefined) expect(next.session).toBe(session);
  },
);
