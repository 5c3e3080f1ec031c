/**
 * A page that is open all the time: it watches the conversation through one connection after the other, and calls tools.
 *
 * Whatever it shows of a block at some version is what the store has at that version. Its calls are made once, however
 * often the connection was lost before they were answered. When everything is quiet, it shows everything.
 */
import { type AgentId, type BlockId, isProblem, Replica, type View } from "@blockyard/kernel";
import { Link } from "./link.ts";
import type { World } from "./world.ts";

export async function watcher(world: World, agent: AgentId): Promise<void> {
  const replica = new Replica({ env: world.env });
  const view = replica.subscribe(world.conversation);
  replica.listen(({ blocks }) => world.guard(() => checkShown(world, view, blocks ?? view.order)));
  const calls: Promise<void>[] = [];
  while (!world.isQuiet) {
    const link = await connect(world, replica, agent, 8);
    const until = world.env.monotonic() + world.random.between(20, 1_200);
    while (world.env.monotonic() < until && link.isOpen) {
      await world.sleep(world.random.between(10, 200));
      if (world.random.chance(0.3)) forget(world, replica, view);
      if (world.random.chance(0.25)) calls.push(callOnce(world, replica, view, `«${agent}-${calls.length}»`));
    }
    await end(world, link);
  }
  const link = await connect(world, replica, agent, 1);
  await world.within(20_000, Promise.all(calls));
  await world.sleep(3_000);
  for (let tries = 0; view.since?.seq !== world.ledger.seq; tries++) {
    if (tries > 200) throw new Error(`${agent} shows ${view.since?.seq}, the store has ${world.ledger.seq}`);
    await world.sleep(50);
  }
  await checkAll(world, replica, view);
  link.cut();
}

async function connect(world: World, replica: Replica, agent: AgentId, delayMs: number): Promise<Link> {
  const node = await world.node();
  const { env, random } = world;
  world.count(replica.views.values().next().value?.isOpen ? "reconnect" : "connect");
  return new Link(node, replica, agent, { env, random, delayMs });
}

async function end(world: World, link: Link): Promise<void> {
  if (world.random.chance(0.3)) {
    link.goSilent();
    world.count("half-open");
    await world.sleep(world.random.between(50, 600));
  }
  link.cut();
  if (world.random.chance(0.5)) await world.sleep(world.random.below(400));
}

/** Lets go of a text, as a page does with what is far away, and asks for it again. */
function forget(world: World, replica: Replica, view: View): void {
  const id = view.order[world.random.below(view.order.length)];
  if (id === undefined) return;
  view.texts.delete(id);
  replica.want(view, [id]);
  world.count("text asked for");
}

/** A call that is sent again after every reconnect, until it is answered. */
async function callOnce(world: World, replica: Replica, view: View, token: string): Promise<void> {
  const block = view.order.at(-1);
  if (block === undefined) return;
  const input = { block_id: block, operations: [{ op: "insert", line: 0, content: token }] };
  const answer = await replica.call("block.edit", input, { write: true });
  world.note(`${token} ${JSON.stringify(answer)}`);
  if (isProblem(answer)) {
    if (answer.problem !== "storage" && answer.problem !== "busy")
      throw new Error(`${token}: ${answer.message}`);
    return;
  }
  world.count("call over the wire");
  if (world.ledger.written(token) !== 1) throw new Error(`${token} was answered and is not in the store`);
}

function checkShown(world: World, view: View, ids: readonly BlockId[]): void {
  for (const id of ids) {
    const shown = view.texts.get(id)?.toString();
    const version = view.blocks.get(id)?.version;
    if (shown === undefined || version === undefined) continue;
    const real = world.ledger.entry(id).texts[version];
    if (shown !== real) {
      throw new Error(
        `${id} at ${version} is shown as ${JSON.stringify(shown)}; it is ${JSON.stringify(real)}`,
      );
    }
    world.count("shown");
  }
}

async function checkAll(world: World, replica: Replica, view: View): Promise<void> {
  const ids = [...world.ledger.entries.keys()];
  replica.want(view, ids);
  await world.sleep(500);
  for (const id of ids) {
    const entry = world.ledger.entry(id);
    if (view.blocks.get(id)?.version !== entry.version) {
      throw new Error(`${id} is shown at ${view.blocks.get(id)?.version}; it is at ${entry.version}`);
    }
    if (view.texts.get(id)?.toString() !== entry.text) throw new Error(`${id} is shown with another text`);
  }
  if (view.order.length !== ids.length)
    throw new Error(`${view.order.length} blocks are shown of ${ids.length}`);
}
