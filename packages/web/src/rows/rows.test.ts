/** From tree to rows: paths, sides, turns, ways, what is pruned and hidden. */
import {
  type Block,
  type BlockId,
  blockOf,
  type JsonObject,
  type Kind,
  type Role,
  type Status,
} from "@blockyard/kernel";
import { describe, expect, test } from "vitest";
import { askingIn, makeRows, nestedName, prunedName, type RowOptions } from "./rows.ts";
import { Tree } from "./tree.ts";

interface Given {
  readonly kind?: Kind;
  readonly role?: Role;
  readonly parent?: string;
  readonly side?: true;
  readonly pruned?: true;
  readonly status?: Status;
  readonly metadata?: JsonObject;
}

/** A tiny outline: names in order; without a parent each continues the one before that is not on the side. */
function outline(given: Readonly<Record<string, Given>>) {
  const blocks = new Map<BlockId, Block>();
  let head: string | null = null;
  let born = 0;
  for (const [id, one] of Object.entries(given)) {
    const { kind = "text", role = "model", status = "done", parent, side, pruned, metadata = {} } = one;
    born++;
    blocks.set(
      id,
      blockOf({
        id,
        conversation: "c",
        agent: "a",
        kind,
        role,
        status,
        parent: parent === "-" ? null : (parent ?? head),
        side: side ?? false,
        version: 1,
        seq: born,
        born,
        createdAt: 0,
        updatedAt: 0,
        chars: 0,
        newlines: 0,
        pruned: pruned ?? false,
        promoted: false,
        metadata,
      }),
    );
    if (!side) head = id;
  }
  return { order: [...blocks.keys()], blocks, head };
}

function rows(
  given: Readonly<Record<string, Given>>,
  {
    head,
    open = [],
    asking = [],
    ...shown
  }: { head?: string; open?: string[]; asking?: string[] } & Partial<RowOptions["shown"]> = {},
): string[] {
  const made = outline(given);
  const tree = new Tree();
  tree.update(made);
  const options: RowOptions = {
    head: head ?? made.head,
    shown: { thinking: true, tools: true, system: true, ...shown },
    isOpen: (name, byDefault) => (open.includes(name) ? true : byDefault),
    asking: askingIn(made, asking),
  };
  return makeRows(made, tree, options).map((row) => {
    if (row.type === "block") return `${"  ".repeat(row.depth)}${row.id}`;
    if (row.type === "turn") return `turn ${row.turn}`;
    if (row.type === "results") return `${"  ".repeat(row.depth)}results of ${row.id}`;
    if (row.type === "gathered") return `${"  ".repeat(row.depth)}gathered ${row.ids.join(",")}`;
    if (row.type === "ask") return `ask of ${row.id}`;
    if (row.type === "speaker") return `speaker of ${row.id}`;
    if (row.type === "branch") return `ways ${row.ways.join(",")} at ${row.at}: ${row.chosen}`;
    return `pruned ${row.ids.join(",")}`;
  });
}

const CALL = {
  ask: { role: "user" as const },
  call: { kind: "tool_call" as const },
  result: { kind: "code" as const, parent: "call", side: true as const },
  inner: { kind: "text" as const, parent: "call", side: true as const },
  deep: { kind: "tool_call" as const, parent: "call", side: true as const },
  deeper: { kind: "text" as const, parent: "deep", side: true as const },
  end: {},
};

test("[AC350] what is nested deeper than functions can call each other has its rows", () => {
  const given: Record<string, Given> = { first: {} };
  for (let i = 0, above = "first"; i < 20_000; i++, above = `b${i - 1}`)
    given[`b${i}`] = { parent: above, side: true };
  const made = outline(given);
  const tree = new Tree();
  tree.update(made);
  const shown = { thinking: true, tools: true, system: true };
  const all = makeRows(made, tree, { head: "first", shown, isOpen: (_, byDefault) => byDefault });
  expect(all).toHaveLength(20_001);
  expect(all.at(-1)).toMatchObject({ id: "b19999", depth: 20_000 });
});

test("[AC350] a list that grows is another one, and no longer one for each of many that come at once", () => {
  const sides = Array.from({ length: 80_000 }, (_, i) => [`s${i}`, { parent: "first", side: true }] as const);
  const { order, blocks } = outline(Object.fromEntries([["first", {}], ...sides]));
  const tree = new Tree();
  tree.update({ order: order.slice(0, 3), blocks });
  const before = tree.sides("first");
  tree.update({ order, blocks });
  expect([before.length, tree.sides("first").length]).toEqual([2, 80_000]);
});

test("[CM12] what is asked about a plan stands behind the plan, and at its call where the plan is elsewhere", () => {
  const asks = (plan: string): Given => ({
    kind: "tool_call",
    metadata: { ask: { id: "1", kind: "plan", state: "asked", plan } },
  });
  const plan = { prompt: { role: "user" as const }, call: asks("plan"), plan: {} };
  expect(rows(plan)).toEqual(["prompt", "call", "plan", "ask of call"]);
  expect(rows({ ...plan, call: asks("other"), other: { parent: "prompt" } }, { head: "plan" })).not.toContain(
    "ask of call",
  );
  // Whatever stands between the two, and also where the plan itself is collapsed.
  const loose = { kind: "error" as const, role: "system" as const, parent: "-", side: true as const };
  const between = { prompt: plan.prompt, call: plan.call, loose, plan: {} };
  expect(rows(between)).toEqual(["prompt", "call", "loose", "plan", "ask of call"]);
  expect(rows({ ...plan, plan: { pruned: true } }, { asking: ["call"] })).toEqual([
    ...["prompt", "call", "pruned plan", "ask of call"],
  ]);
});

test("[E15] a sub-agent's report stands behind its work, where that is open", () => {
  const given = {
    call: { kind: "tool_call" },
    asked: { role: "user", parent: "call", side: true },
    read: { kind: "tool_call", parent: "call", side: true },
    report: { kind: "tool_result", role: "tool", parent: "call", side: true },
    note: { role: "system", parent: "call", side: true },
    after: {},
  } as const;
  const open = [nestedName("call")];
  expect(rows(given, { open })).toEqual(["call", "  asked", "  read", "results of call", "  note", "after"]);
  expect(rows(given)).toEqual(["call", "after"]);
  const { read: _, asked: _asked, ...launched } = given;
  expect(rows(launched, { open })).toEqual(["call", "  note", "after"]);
});

describe("rows", () => {
  test("a call's result is in its row; a sub-agent's work is below it when opened", () => {
    expect(rows(CALL)).toEqual(["ask", "call", "end"]);
    expect(rows(CALL, { open: [nestedName("call")] })).toEqual(["ask", "call", "  inner", "  deep", "end"]);
    expect(rows(CALL, { open: [nestedName("call"), nestedName("deep")] })).toEqual([
      "ask",
      "call",
      "  inner",
      "  deep",
      "    deeper",
      "end",
    ]);
  });

  test("what is hidden is left out, with all that hangs off it", () => {
    expect(rows(CALL, { tools: false, open: [nestedName("call")] })).toEqual(["ask", "end"]);
    expect(rows({ a: { kind: "thinking" }, b: {} }, { thinking: false })).toEqual(["b"]);
    expect(rows({ a: { role: "system" }, b: { role: "system", kind: "error" } }, { system: false })).toEqual([
      "b",
    ]);
  });

  test("[V15] a sub-agent's call that asks is a row, whatever is closed or hidden; its neighbours are not", () => {
    const asks = { ...CALL, deeper: { ...CALL.deeper, kind: "tool_call" as const } };
    expect(rows(asks, { asking: ["deeper"] })).toEqual(["ask", "call", "  deep", "    deeper", "end"]);
    const asked = {
      ...asks,
      deeper: { ...asks.deeper, metadata: { approval: { id: "1", state: "asked" } } },
    };
    const hidden = { tools: false, asking: ["deeper"], open: [nestedName("call")] };
    expect(rows(asked, hidden)).toEqual(["ask", "    deeper", "end"]);
    expect(rows(asks, { asking: ["not-here"] })).toEqual(["ask", "call", "end"]);
  });

  test("[V10] a message that waits, has run or was taken back is no row; one that never ran is", () => {
    const queued = (status: Status, reason?: string) => ({
      ask: { role: "user" as const },
      waits: {
        role: "user" as const,
        side: true as const,
        status,
        metadata: { notice: "queued", ...(reason === undefined ? {} : { reason }) },
      },
      end: {},
    });
    for (const given of [queued("pending"), queued("done"), queued("error", "cancelled")])
      expect(rows(given)).toEqual(["ask", "end"]);
    expect(rows(queued("error", "interrupted"))).toEqual(["ask", "  waits", "end"]);
  });

  test("[V10] a message that never ran is seen also where it hangs off a call that is closed", () => {
    const waits = { side: true as const, parent: "call", metadata: { notice: "queued" } };
    const left = { ...waits, status: "error" as const };
    expect(rows({ call: CALL.call, inner: CALL.inner, waits, left, end: {} })).toEqual([
      "call",
      "  left",
      "end",
    ]);
  });

  test("a command that was run again is in the row of its first run", () => {
    const again = { kind: "command" as const, parent: "first", side: true as const };
    const first = { kind: "command" as const };
    expect(rows({ first, again: { ...again, metadata: { notice: "rerun" } }, end: {} })).toEqual([
      ...["first", "end"],
    ]);
  });

  test("a call that asks is shown whatever is hidden", () => {
    const asks = { a: { kind: "tool_call" as const, metadata: { approval: { id: "1", state: "asked" } } } };
    expect(rows(asks, { tools: false })).toEqual(["a"]);
  });

  test("a turn has its foot behind its last block", () => {
    const turn = { metadata: { turn: "t1" } };
    expect(rows({ a: turn, b: turn, c: { metadata: { turn: "t2" } } })).toEqual([
      "a",
      "b",
      "turn t1",
      "c",
      "turn t2",
    ]);
  });

  test("a turn that another came in between of has one foot", () => {
    const [one, other] = [{ metadata: { turn: "t1" } }, { metadata: { turn: "t2" } }];
    expect(rows({ a: one, b: other, c: one })).toEqual(["a", "b", "turn t2", "c", "turn t1"]);
  });

  test("the path to the head, and the other ways", () => {
    const forked = { a: {}, b: {}, c: {}, d: { parent: "a" }, e: {} };
    expect(rows(forked)).toEqual(["a", "ways b,d at a: d", "d", "e"]);
    expect(rows(forked, { head: "c" })).toEqual(["a", "ways b,d at a: b", "b", "c"]);
    expect(rows(forked, { head: "b" })).toEqual(["a", "ways b,d at a: b", "b", "ways c at b: undefined"]);
  });

  test("[CM8] the ways to begin, above the first block, where the beginning is here", () => {
    const anew = { a: {}, b: {}, c: { parent: "-" }, d: {} };
    expect(rows(anew)).toEqual(["ways a,c at null: c", "c", "d"]);
    expect(rows(anew, { head: "b" })).toEqual(["ways a,c at null: a", "a", "b"]);
    expect(rows({ ...anew, note: { parent: "-", side: true } }, { head: "b" })[0]).toBe(
      "ways a,c at null: a",
    );
    expect(rows({ ...anew, c: { parent: "older" } })).toEqual(["c", "d"]);
  });

  test("pruned blocks collapse into one row, and open again", () => {
    const pruned = { a: {}, b: { pruned: true as const }, c: { pruned: true as const }, d: {} };
    expect(rows(pruned)).toEqual(["a", "pruned b,c", "d"]);
    expect(rows(pruned, { open: [prunedName("b")] })).toEqual(["a", "pruned b,c", "b", "c", "d"]);
  });

  test("blocks that hang off nothing are shown where they were written", () => {
    expect(
      rows({
        lost: { kind: "code", side: true, parent: "-" },
        a: {},
        lost2: { kind: "todo", side: true, parent: "-" },
      }),
    ).toEqual(["lost", "a", "lost2"]);
  });

  test("a window that begins in the middle shows what it has", () => {
    expect(rows({ b: { parent: "not-here" }, c: {} })).toEqual(["b", "c"]);
  });
});

describe("tree", () => {
  test("grows with its outline, and is made anew when older blocks come in front", () => {
    const tree = new Tree();
    const all = outline(CALL);
    tree.update({ order: all.order.slice(0, 3), blocks: all.blocks });
    expect(tree.sides("call")).toEqual(["result"]);
    const before = tree.sides("call");
    tree.update({ order: all.order.slice(0, 3), blocks: all.blocks });
    expect(tree.sides("call")).toEqual(before);
    tree.update(all);
    expect(tree.sides("call")).toEqual(["result", "inner", "deep"]);
    const later = new Tree();
    later.update({ order: all.order.slice(2), blocks: all.blocks });
    later.update(all);
    expect(later.sides("call")).toEqual(["result", "inner", "deep"]);
  });
});

describe("quiet rows", () => {
  const read = (id: string): Readonly<Record<string, Given>> => ({
    [id]: { kind: "tool_call", metadata: { toolName: "Read" } },
    [`${id}r`]: { kind: "code", parent: id, side: true },
  });
  const given = {
    ask: { role: "user" as const },
    ...read("a"),
    ...read("b"),
    think: { kind: "thinking" as const },
    answer: {},
    ...read("c"),
    edit: { kind: "tool_call" as const, metadata: { toolName: "Edit" } },
  };

  test("[V121] that follow each other are one row; one alone stays itself", () => {
    expect(rows(given)).toEqual(["ask", "gathered a,b,think", "answer", "c", "edit"]);
  });

  test("[V121] are all there when their row is open, in their order", () => {
    expect(rows(given, { open: ["quiet:a"] })).toEqual([
      "ask",
      "gathered a,b,think",
      "a",
      "b",
      "think",
      "answer",
      "c",
      "edit",
    ]);
  });

  test("[V121] one that the reader has opened is not gathered; in an open row it stays in its place", () => {
    expect(rows(given, { open: ["b"] })).toEqual(["ask", "a", "b", "think", "answer", "c", "edit"]);
    expect(rows(given, { open: ["b", "quiet:a"] }).slice(1, 5)).toEqual([
      "gathered a,b,think",
      "a",
      "b",
      "think",
    ]);
  });

  test("[V121] a row that is open stays open when older ones come in front of it", () => {
    expect(rows({ ...read("older"), ...given, ask: { kind: "thinking" } }, { open: ["quiet:a"] })[0]).toBe(
      "gathered older,ask,a,b,think",
    );
    expect(rows({ ...read("older"), ...given, ask: { kind: "thinking" } }, { open: ["quiet:a"] })).toContain(
      "a",
    );
  });

  test("[V123] of two lists of a turn the first is no quiet row", () => {
    const todo = (id: string): Readonly<Record<string, Given>> => ({
      [id]: { kind: "tool_call", metadata: { toolName: "TodoWrite", turn: "1" } },
      [`${id}r`]: { kind: "todo", parent: id, side: true, metadata: { items: [] } },
    });
    expect(rows({ ...todo("a"), ...todo("b"), ...read("c") })).toEqual(["a", "b", "turn 1", "c"]);
  });
});
