/**
 * The agents of a simulation. Each does its work through whatever kernel answers, sends again what was not answered (with
 * the same key), and knows what must then be true: what was acknowledged is in the store, once.
 */
import {
  type AgentId,
  type BlockId,
  type Draft,
  isProblem,
  type Json,
  type Problem,
  type ProblemCode,
} from "@blockyard/kernel";
import { MergingReplica } from "./replica.ts";
import type { Node, World } from "./world.ts";

const ANSWER_MS = 1_500;
/** Problems that say "not now". */
const PASSING: readonly ProblemCode[] = ["storage", "busy", "uncertain"];

interface Keyed {
  readonly agent: AgentId;
  readonly key: string;
  readonly block?: BlockId;
  readonly plan: (draft: Draft) => Json | Problem;
}

/** One write with a key, sent until it is answered, now and then once more than needed. */
export async function send(world: World, write: Keyed): Promise<Json | Problem> {
  for (let times = 0; ; times++) {
    if (times > 0) world.count("resend");
    if (times > 60) throw new Error(`${write.key} was sent ${times} times and never answered`);
    const node = await world.node();
    if (world.random.chance(0.15)) await alsoTo(world, write);
    const answer = await world.within(ANSWER_MS, put(world, node, write));
    world.note(`${write.agent} ${write.key} ${JSON.stringify(answer)}`);
    if (answer === undefined) continue;
    if (isProblem(answer) && PASSING.includes(answer.problem)) {
      await world.sleep(world.random.between(20, 300));
      continue;
    }
    if (!isProblem(answer) && world.random.chance(0.2)) await sendAgain(world, write, answer);
    return answer;
  }
}

function put(world: World, { kernel }: Node, { block, ...write }: Keyed): Promise<Json | Problem> {
  return block === undefined ? kernel.write(world.conversation, write) : kernel.writeBlock(block, write);
}

/** The same write through another kernel, at nearly the same moment: whoever is second is answered what the first was. */
async function alsoTo(world: World, write: Keyed): Promise<void> {
  void put(world, await world.node(), write);
  world.count("sent to two kernels");
  if (world.random.chance(0.5)) await world.sleep(world.random.below(8));
}

/** The acknowledgement got lost: up to three times, through any kernel. */
async function sendAgain(world: World, write: Keyed, first: Json): Promise<void> {
  for (let times = world.random.between(1, 3); times > 0; times--) {
    const node = await world.node();
    const answer = await world.within(ANSWER_MS, put(world, node, write));
    if (answer === undefined || isProblem(answer)) continue;
    if (JSON.stringify(answer) !== JSON.stringify(first)) {
      throw new Error(`${write.key} was answered ${JSON.stringify(first)}, then ${JSON.stringify(answer)}`);
    }
    world.count("resend answered again");
  }
}

/** A model: one block after the other, streamed in pieces, some of them tool calls. Each is ended once. */
export async function model(world: World, agent: AgentId, blocks: number): Promise<void> {
  for (let i = 0; i < blocks; i++) {
    const isCall = world.random.chance(0.4);
    const id = await create(world, agent, `${agent}-${i}`, isCall);
    await stream(world, agent, id);
    if (isCall && world.random.chance(0.7)) {
      await send(world, {
        agent,
        key: `${id}-runs`,
        block: id,
        plan: (draft) => versionOf(draft.meta(id, { stage: "running" })),
      });
    }
    await end(world, agent, id, `${id}-end`, "done");
    if (world.ledger.entry(id).ends !== 1) throw new Error(`${id} was ended and is open`);
    await world.sleep(world.random.below(60));
  }
}

async function create(world: World, agent: AgentId, name: string, isCall: boolean): Promise<BlockId> {
  const answer = await send(world, {
    agent,
    key: name,
    plan: (draft) => {
      const made = isCall
        ? draft.create({ kind: "tool_call", role: "model", metadata: { toolUseId: name, toolName: "Edit" } })
        : draft.create({ kind: "text", role: "model", text: `«${name}»` });
      return isProblem(made) ? made : { id: made.id };
    },
  });
  if (isProblem(answer)) throw new Error(`${name} could not be made: ${answer.message}`);
  const { id } = answer as { id: BlockId };
  world.ledger.entry(id);
  return id;
}

/**
 * Streams into the block through one kernel. As long as that kernel lives, what was accepted is written once and in order,
 * whatever the store does. If it dies, what is there is the beginning of what was accepted.
 */
async function stream(world: World, agent: AgentId, id: BlockId): Promise<void> {
  const node = await world.node();
  let accepted = "";
  let isInDoubt = false;
  for (let pieces = world.random.between(1, 25); pieces > 0 && node.isAlive; pieces--) {
    const piece = world.random.text(world.random.between(1, 8));
    const answer = await world.within(ANSWER_MS, node.kernel.append(id, agent, piece));
    if (answer === undefined) break;
    if (isProblem(answer)) {
      isInDoubt = answer.problem === "uncertain";
      if (isInDoubt) break;
      if (PASSING.includes(answer.problem)) continue;
      if (answer.problem === "closed") return world.count("stream closed by another");
      throw new Error(`append: ${answer.message}`);
    }
    accepted += piece;
    if (world.random.chance(0.7)) await world.sleep(world.random.below(130));
  }
  const durable = !isInDoubt && (await drained(world, node, agent, id));
  const written = world.ledger.entry(id).streams.get(agent) ?? "";
  const isWhole = durable && written === accepted.toWellFormed();
  if (durable && !isWhole) {
    throw new Error(`${agent} streamed ${JSON.stringify(accepted)}, ${id} got ${JSON.stringify(written)}`);
  }
  if (!accepted.toWellFormed().startsWith(written)) {
    throw new Error(`${id} got ${JSON.stringify(written)}, which does not begin ${JSON.stringify(accepted)}`);
  }
  world.count(isWhole ? "stream whole" : "stream cut");
}

/** Whether everything accepted is durable; false if the kernel died before or the block was closed. */
async function drained(world: World, node: Node, agent: AgentId, id: BlockId): Promise<boolean> {
  while (node.isAlive) {
    const answer = await world.within(ANSWER_MS, node.kernel.drain(id, agent));
    if (answer === undefined && !node.isAlive) return false;
    if (isProblem(answer)) {
      if (answer.problem === "closed") return false;
      if (answer.problem === "uncertain") return false;
      world.count("drain tried again");
      await world.sleep(200);
      continue;
    }
    return node.isAlive;
  }
  return false;
}

async function end(
  world: World,
  agent: AgentId,
  id: BlockId,
  key: string,
  status: "done" | "error",
): Promise<void> {
  const answer = await send(world, {
    agent,
    key,
    block: id,
    plan: (draft) => versionOf(draft.status(id, status)),
  });
  if (!isProblem(answer)) return;
  if (answer.problem !== "closed") throw new Error(`${id} cannot be ended: ${answer.message}`);
  world.count("end refused: it has ended");
}

/** Ends other agents' blocks, sometimes at the same moment as they do. */
export async function supervisor(world: World): Promise<void> {
  while (!world.isOver) {
    await world.sleep(world.random.between(100, 900));
    const open = [...world.ledger.entries.values()].filter((entry) => entry.ends === 0);
    if (open.length === 0 || !world.random.chance(0.4)) continue;
    const { id } = world.random.pick(open);
    await end(world, "boss", id, `${id}-stopped`, "error");
  }
}

/** A person who edits, undoes and redoes in any block. */
export async function person(world: World, agent: AgentId, writes: number): Promise<void> {
  for (let i = 0; i < writes; i++) {
    await world.sleep(world.random.between(5, 250));
    const ids = [...world.ledger.entries.keys()];
    if (ids.length === 0) continue;
    const block = world.random.pick(ids.slice(-3));
    if (world.random.chance(0.45)) await takeBack(world, agent, block, i);
    else await edit(world, agent, block, i);
  }
}

async function edit(world: World, agent: AgentId, block: BlockId, i: number): Promise<void> {
  const token = `«${agent}-${i}»`;
  const place = world.random.below(1_000);
  const length = world.random.chance(0.4) ? world.random.below(8) : 0;
  const answer = await send(world, {
    agent,
    key: token,
    block,
    plan: (draft) => {
      const text = draft.text(block);
      const from = onBoundary(text, place % (text.length + 1));
      const to = onBoundary(text, Math.max(from, Math.min(text.length, from + length)));
      return versionOf(draft.splice(block, [{ at: from, del: text.slice(from, to), ins: token }]));
    },
  });
  if (isProblem(answer)) throw new Error(`${token}: ${answer.message}`);
  if (world.ledger.written(token) !== 1) throw new Error(`${token} was acknowledged and is not in the store`);
}

function onBoundary(text: { isCharacterBoundary(at: number): boolean }, at: number): number {
  return text.isCharacterBoundary(at) ? at : at - 1;
}

async function takeBack(world: World, agent: AgentId, block: BlockId, i: number): Promise<void> {
  const type = world.random.chance(0.6) ? "undo" : "redo";
  const answer = await send(world, {
    agent,
    key: `${type}-${i}`,
    block,
    plan: (draft) => {
      const done = draft.undo(block, type);
      return isProblem(done) ? done : { version: done.block.version, unit: done.unit };
    },
  });
  if (!isProblem(answer)) world.count(type);
  else if (answer.problem === "nothing") world.count("nothing to undo");
  else throw new Error(`${type}: ${answer.message}`);
}

/** A person with an editor: edits while away, comes back, merges. */
export async function editor(world: World, agent: AgentId, rounds: number): Promise<void> {
  let replica: MergingReplica | undefined;
  for (let i = 0; i < rounds; i++) {
    await world.sleep(world.random.between(20, 400));
    const ids = [...world.ledger.entries.keys()];
    if (ids.length === 0) continue;
    if (replica === undefined || world.random.chance(0.15)) {
      replica = new MergingReplica(agent, world.random.pick(ids.slice(-2)), world.random);
      if (!(await merged(world, replica))) continue;
    }
    for (let bursts = world.random.between(1, 3); bursts > 0; bursts--) {
      replica.edit(false);
      await merged(world, replica);
    }
    // Right behind a burst, through another kernel perhaps: what follows must not go on with what was taken back.
    if (world.random.chance(0.5)) await takeBack(world, agent, replica.block, i);
    replica.edit(false);
    await merged(world, replica);
  }
  for (let tries = 0; replica !== undefined; tries++) {
    if (await merged(world, replica)) {
      if (!replica.owes && replica.text !== "" && tries > 0) return;
    }
    if (tries > 100) throw new Error(`${agent} cannot merge`);
    await world.sleep(100);
  }
}

async function merged(world: World, replica: MergingReplica): Promise<boolean> {
  const { kernel } = await world.node();
  const answer = await world.within(
    ANSWER_MS,
    replica.sync(kernel).then((refused) => refused ?? "merged"),
  );
  world.count(answer === "merged" ? "merge" : "merge tried again");
  if (answer !== undefined && answer !== "merged" && !/storage|store|stale|busy/.test(answer)) {
    throw new Error(`${replica.agent}: ${answer}`);
  }
  return answer === "merged";
}

function versionOf(answer: { readonly version: number } | Problem): Json | Problem {
  return isProblem(answer) ? answer : { version: answer.version };
}
