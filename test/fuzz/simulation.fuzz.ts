/**
 * The simulation [R31] as a harness: two kernels on one store that fails, crashes, clocks that jump, models that stream,
 * people that edit and undo. See test/sim for what must hold at every step. One seed is one life of such a system.
 */
import { editor, model, person, supervisor } from "../sim/agents.ts";
import { watcher } from "../sim/watcher.ts";
import { World } from "../sim/world.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";

const LIFE_MS = 4_000;
const LIMIT_MS = 120_000;

export const fuzz: Fuzz = {
  name: "simulation",
  sometimes: [
    "moved",
    "commit failed",
    "commit of unknown outcome",
    "commit in turn",
    "read failed",
    "crash",
    "crash with a commit under way",
    "resend",
    "resend answered again",
    "sent to two kernels",
    "promotion during a stream",
    "compacted",
    "undo",
    "redo",
    "nothing to undo",
    "undo of what another node has compacted",
    "merge",
    "clock jump",
    "stream whole",
    "stream cut",
    "stream closed by another",
    "end refused: it has ended",
    "drain tried again",
    "reconnect",
    "half-open",
    "shown",
    "call over the wire",
    "text asked for",
  ],
  async run(seed): Promise<FuzzOutcome> {
    const { hits } = await simulate(seed);
    return { ok: true, hits };
  },
};

/** One life; with the trace of everything that happened in it. */
export async function simulate(seed: number): Promise<{ hits: Record<string, number>; trace: string }> {
  const hits: Record<string, number> = {};
  const world = new World(seed, (event) => {
    hits[event] = (hits[event] ?? 0) + 1;
  });
  await world.open();
  const watchers = [watcher(world, "wes"), watcher(world, "zoe")].map((work) => world.keep(work));
  const writers = [
    world.misbehave(LIFE_MS),
    model(world, "model", world.random.between(2, 5)),
    model(world, "second", world.random.between(1, 3)),
    person(world, "ana", world.random.between(5, 25)),
    person(world, "ben", world.random.between(5, 25)),
    editor(world, "eve", world.random.between(3, 12)),
    supervisor(world),
  ].map((work) => world.keep(work));
  await world.until(Promise.all(writers), LIMIT_MS);
  world.isQuiet = true;
  await world.until(Promise.all(watchers), 2 * LIMIT_MS);
  await world.check();
  return { hits, trace: world.trace };
}
