/** An agent's rights to what is not its own: each tool that writes, on each kind of block and conversation. */
import { describe, expect, it } from "vitest";
import { KINDS, ROLES } from "../model/kind.ts";
import { isProblem } from "../model/problem.ts";
import { ann, bob, TestHarness } from "../testing/harness.ts";

const eve = { agent: "eve", role: "agent" } as const;

const METADATA: Readonly<Record<string, object>> = {
  tool_call: { toolUseId: "u", toolName: "x" },
  tool_result: { toolUseId: "u", toolName: "x" },
  command: { command: "ls" },
  file_change: { changes: [] },
  todo: { items: [] },
};

describe("roles", () => {
  it.each(
    ROLES.flatMap((role) => KINDS.filter((kind) => kind !== "file").map((kind) => [role, kind] as const)),
  )(
    "[AC120] an agent makes no block with the role %s of kind %s, unless it is model or tool",
    async (role, kind) => {
      const harness = new TestHarness();
      for (const owner of [ann, eve]) {
        const { conversation } = await harness.ok("conversation.create", {}, owner);
        const before = await harness.everything();
        const made = { conversation, role, kind, content: "x", metadata: METADATA[kind] ?? {} };
        const answer = await harness.ask("block.create", made, eve);
        const isOwnersAlone = role === "user" || role === "system";
        expect(isProblem(answer) && answer.problem === "forbidden").toBe(isOwnersAlone);
        if (isOwnersAlone) expect(await harness.everything()).toBe(before);
        expect(isProblem(await harness.ask("block.create", made, ann))).toBe(false);
      }
    },
  );
});

/** Every way to change a text. */
const edits: readonly [string, (id: string) => object][] = [
  ["block.edit", (block_id) => ({ block_id, operations: [{ op: "insert", line: 0, content: "x" }] })],
  [
    "block.edit",
    (block_id) => ({ block_id, base_version: 1, operations: [{ op: "insert", line: 0, content: "x" }] }),
  ],
  ["block.splice", (block_id) => ({ block_id, offset: 0, insert: "x" })],
  ["block.splice", (block_id) => ({ block_id, offset: 0, insert: "x", base_version: 1 })],
  ["block.apply_patch", (block_id) => ({ block_id, patch: "@@ -0,0 +1 @@\n+new\n" })],
  ["block.append", (block_id) => ({ block_id, text: "x" })],
  ["block.append", (block_id) => ({ block_id, text: "x", wait: true })],
];

describe("texts", () => {
  it.each(edits)("[AC120] %s changes no words of the owner for an agent", async (tool, input) => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    for (const role of ROLES) {
      const id = await harness.block(conversation, "mine\n", ann, { role });
      for (const key of [undefined, `key-${role}`]) {
        const before = await harness.everything();
        const answer = await harness.ask(tool, input(id), bob, key);
        const isOwners = role === "user" || role === "system";
        expect([role, isProblem(answer) && answer.problem === "forbidden"]).toEqual([role, isOwners]);
        if (isOwners) expect(await harness.everything()).toBe(before);
      }
      expect(isProblem(await harness.ask(tool, input(id), ann))).toBe(false);
    }
  });

  it("[AC120] an agent reverts its old edit of the owner's words, and cannot redo it", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    const id = await harness.block(conversation, "mine\n", ann, { role: "user" });
    // As a version before let it.
    await harness.kernel.writeBlock(id, {
      agent: "bob",
      plan: (draft) => draft.splice(id, [{ at: 0, del: "", ins: "not " }]),
    });
    await harness.ok("block.undo", { block_id: id }, bob);
    expect(await harness.text(id)).toBe("mine\n");
    expect(await harness.problem("block.redo", { block_id: id }, bob)).toMatchObject({
      problem: "forbidden",
    });
  });
});

describe("copies", () => {
  it.each(edits)(
    "[AC120] [AC269] %s changes no copied words of the owner, whoever has forked them",
    async (tool, input) => {
      const harness = new TestHarness();
      for (const role of ROLES) {
        const conversation = await harness.conversation();
        const source = await harness.block(conversation, "mine\n", ann, { role });
        const { head } = await harness.ok("conversation.fork", { block_id: source, into_new: true }, bob);
        const { head: again } = await harness.ok(
          "conversation.fork",
          { block_id: head, into_new: true },
          bob,
        );
        for (const copy of [head, again] as string[]) {
          const refused = await harness.ask(tool, input(copy), bob);
          const isOwners = role === "user" || role === "system";
          // A copy has ended: nobody can append to it.
          const expected = tool === "block.append" ? "closed" : isOwners ? "forbidden" : undefined;
          expect([role, isProblem(refused) ? refused.problem : undefined]).toEqual([role, expected]);
        }
      }
    },
  );

  it("[AC18] an ask exists once: a fork of it asks nothing", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    const ask = { id: "1", kind: "permission", state: "asked", title: "rm" } as const;
    const { id } = (await harness.kernel.write(conversation, {
      agent: "claude",
      plan: (draft) =>
        draft.create({
          kind: "tool_call",
          role: "model",
          metadata: { toolUseId: "u", toolName: "bash", ask },
        }),
    })) as { id: string };
    expect(await harness.kernel.conversation(conversation)).toMatchObject({ asking: [id] });
    for (const caller of [ann, bob]) {
      const copied = await harness.ok("conversation.fork", { block_id: id, into_new: true }, caller);
      expect(await harness.kernel.conversation(copied["conversation"] as string)).not.toHaveProperty(
        "asking",
      );
      expect(await harness.kernel.block(copied["head"] as string)).toMatchObject({
        metadata: { ask: { state: "expired" } },
      });
    }
  });
});

describe("conversations", () => {
  it("[AC121] what belongs to a context, and where it continues, is up to its creator and the owner", async () => {
    const harness = new TestHarness();
    const conversation = await harness.conversation();
    const first = await harness.block(conversation, "one", ann);
    const head = await harness.block(conversation, "two", ann);
    const other = await harness.block(await harness.conversation(), "elsewhere", ann);
    const rows: [string, object][] = [
      ["conversation.include", { conversation, block_id: other }],
      ["conversation.include", { conversation, block_id: other, included: false }],
      ["conversation.fork", { block_id: first }],
      ["conversation.fork", { block_id: first, content: "do it" }],
      ["conversation.fork", { block_id: first, content: "do it", into_new: true }],
      ["conversation.prune", { block_id: first }],
      ["conversation.prune", { block_id: first, pruned: false }],
      ["conversation.update", { conversation, title: "hers" }],
      ["block.create", { conversation, role: "model", kind: "text", content: "x", parent_id: first }],
      ["block.create", { conversation, role: "model", kind: "text", content: "x", parent_id: null }],
      ["block.create", { parent_id: first, role: "model", kind: "text", content: "x", side: false }],
    ];
    const before = await harness.everything();
    for (const [tool, input] of rows) {
      const refused = await harness.ask(tool, input, bob);
      expect([tool, refused]).toEqual([tool, expect.objectContaining({ problem: "forbidden" })]);
    }
    expect(await harness.everything()).toBe(before);
    const allowed: [string, object][] = [
      ["block.create", { conversation, role: "model", kind: "text", content: "x", parent_id: head }],
      [
        "block.create",
        { conversation, role: "model", kind: "text", content: "x", parent_id: first, side: true },
      ],
      ["conversation.fork", { block_id: first, into_new: true }],
    ];
    for (const [tool, input] of allowed) expect(isProblem(await harness.ask(tool, input, bob))).toBe(false);
    const { conversation: own } = await harness.ok("conversation.create", {}, bob);
    const his = await harness.block(own as string, "his", bob);
    for (const [tool, input] of [
      ["conversation.include", { conversation: own, block_id: other }],
      ["conversation.fork", { block_id: his }],
      ["conversation.update", { conversation: own, title: "t" }],
    ] as const)
      expect(isProblem(await harness.ask(tool, input, bob))).toBe(false);
  });
});

describe("metadata", () => {
  it.each([
    { includes: "c/ann/1" },
    { author: "ann" },
    { label: "ann" },
    { notice: "reset" },
    { node: "n" },
    { sandbox: "sandboxed, no network" },
    { observed: true },
    { turn: "turn-of-ann" },
    { turn: "no-turn" },
    { approval: { id: "a", state: "allowed" } },
    { told: { blocks: 1, leftOut: 0, fresh: false, included: {} } },
  ])("[AC122] %j claims what an agent may not claim", async (metadata) => {
    const harness = new TestHarness();
    const { conversation } = await harness.ok("conversation.create", {}, bob);
    await harness.kernel.write(conversation as string, {
      agent: "ann",
      plan: (draft) => {
        const turn = { id: "turn-of-ann", provider: "claude", agent: "claude", status: "running" } as const;
        draft.setTurn({ ...turn, startedAt: 0 });
        draft.setTurn({ ...turn, id: "turn-of-bob", agent: "bob", startedAt: 0 });
        return null;
      },
    });
    const made = { conversation, role: "model", kind: "text", content: "x" };
    const id = (await harness.ok("block.create", { ...made, metadata: { turn: "turn-of-bob" } }, bob))[
      "block_id"
    ];
    const before = await harness.everything();
    const refusals = [
      await harness.problem("block.create", { ...made, metadata }, bob),
      await harness.problem("block.status", { block_id: id, metadata }, bob),
    ];
    expect(refusals.map(({ problem }) => problem)).toEqual(["forbidden", "forbidden"]);
    expect(await harness.everything()).toBe(before);
  });

  it("[AC123] a turn that an agent begins says nothing of with whom others' conversations are held", async () => {
    const harness = new TestHarness();
    const claim = { provider: "claude", model: "best", session_id: "stolen" };
    const stated = { provider: "codex", model: "m" };
    const nobody = { provider: undefined, model: undefined };
    for (const [maker, before, after] of [
      [ann, stated, stated],
      [ann, {}, nobody],
      [bob, stated, { provider: "claude", model: "best" }],
    ] as const) {
      const { conversation } = await harness.ok("conversation.create", before, maker);
      const { turn } = await harness.ok("turn.begin", { conversation, ...claim }, bob);
      await harness.ok("turn.end", { conversation, turn, model: "best" }, bob);
      const record = await harness.kernel.conversation(conversation as string);
      expect({ provider: undefined, model: undefined, ...record }).toMatchObject(after);
      expect(record).toMatchObject({ sessions: {}, turns: 1 });
    }
  });

  it.each([
    ["imported", { name: "n" }],
    ["archived", true],
  ])("[AC122] nobody claims %s for a conversation", async (key, value) => {
    const harness = new TestHarness();
    for (const caller of [ann, bob])
      expect(
        await harness.problem("conversation.create", { metadata: { [key]: value } }, caller),
      ).toMatchObject({ problem: "forbidden" });
  });
});
