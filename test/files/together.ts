/**
 * [F27] Three agents over MCP, each with a token of its own, and a person with an editor on a WebSocket, in one file of a
 * real server. For `seconds`, or until everybody has done `deeds` things.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isProblem, type Replica, typedCalls } from "@blockyard/kernel";
import * as Y from "yjs";
import { runScenario, type Verdict } from "../../packages/server/src/demo/scenario.ts";
import type { Seat } from "../../packages/server/src/demo/scripted-agent.ts";
import { CAST, DEMO_PATH, demoText } from "../../packages/server/src/demo/story.ts";
import { TestHarness } from "../access/harness.ts";
import { openReplica, overHttp, overMcp } from "../access/transports.ts";
import type { Outcome, Run } from "../faults/lab.ts";
import { Random } from "../sim/random.ts";

export interface Together {
  readonly seed: number;
  readonly deeds?: number;
  readonly seconds?: number;
  readonly tell?: (text: string) => void;
}

export interface Ended extends Verdict {
  /** Lines that the person typed. */
  readonly typed: number;
}

export async function editTogether({ seed, deeds, seconds, tell }: Together): Promise<Ended> {
  const random = new Random(seed);
  const harness = await TestHarness.start();
  const transports = await Promise.all(CAST.map((name) => overMcp(harness, harness.agent(name))));
  const seats: Seat[] = CAST.map((agent, i) => ({
    agent,
    call: typedCalls(async (tool, input) => transports[i]?.call(tool, input)),
  }));
  const { replica, socket } = await openReplica(harness.running.url, harness.owner);
  const owner = overHttp(harness, harness.owner);
  const until = seconds === undefined ? undefined : performance.now() + seconds * 1_000;
  const left = new Map<string, number>(
    [...CAST, "person"].map((name) => [name, deeds ?? Number.POSITIVE_INFINITY]),
  );
  const next = async (name: string): Promise<boolean> => {
    left.set(name, (left.get(name) as number) - 1);
    if (until !== undefined) await new Promise((go) => setTimeout(go, 100 + random.below(200)));
    return (left.get(name) as number) >= 0 && (until === undefined || performance.now() < until);
  };
  const typed: string[] = [];
  let typing: Promise<void> | undefined;
  let done = 0;
  try {
    const verdict = await runScenario({
      owner: { call: typedCalls((tool, input) => owner.call(tool, input)) },
      seats,
      random: () => random.below(1e9) / 1e9,
      next: async (name) => {
        const goesOn = await next(name);
        if (!goesOn) await typing; // the verdict is about what everybody has written
        return goesOn;
      },
      onDeed: () => {
        if (++done % 200 === 0) tell?.(`${done} deeds, ${typed.length} lines typed`);
      },
      opened: ({ block_id }) => {
        typing = type(new Person(replica, block_id), random, () => next("person"), typed);
      },
      others: () => [
        ...typed,
        ...demoText()
          .split("\n")
          .filter((line) => line !== ""),
      ],
    });
    await typing;
    const wrong = [...verdict.wrong];
    const disk = readFileSync(join(harness.root, DEMO_PATH), "utf8");
    for (const line of typed) if (!disk.includes(line)) wrong.push(`not on the disk: ${line}`);
    return { ...verdict, ok: wrong.length === 0, wrong, typed: typed.length };
  } finally {
    for (const transport of transports) await transport.close();
    const gone = new Promise((closed) => socket.once("close", closed));
    socket.close();
    await gone;
    await harness.stop();
  }
}

/** As a fault test: as many seconds as rounds. */
export async function playTogether({ rounds, seed, tell }: Run): Promise<Outcome> {
  const { deeds, lines, typed, version, wrong } = await editTogether({
    seed,
    seconds: rounds,
    ...(tell ? { tell } : {}),
  });
  const edits = deeds.inserted + deeds.patched + deeds.reworded;
  const summary = `${edits} edits, ${deeds.undid + deeds.redid} undos and redos, ${typed} lines typed; ${lines} lines of agents stand at version ${version}`;
  return { name: "one file together", rounds, failures: wrong, summary };
}

/** A person with an editor: a merge document of their own, and updates both ways. */
class Person {
  readonly doc = new Y.Doc();
  readonly text = this.doc.getText("t");
  readonly ready: Promise<void>;
  readonly #replica: Replica;
  readonly #block: string;

  constructor(replica: Replica, block: string) {
    this.#replica = replica;
    this.#block = block;
    this.doc.clientID = 2 ** 31 + 7;
    this.ready = new Promise((open, refused) => {
      replica.sync(block, {
        update: (update) => {
          Y.applyUpdate(this.doc, update, "remote");
          open();
        },
        refused: (problem) => refused(new Error(problem.message)),
      });
    });
  }

  /** Types at a place; answered when the server has it. */
  async insert(at: number, text: string): Promise<void> {
    const updates: Uint8Array[] = [];
    const keep = (update: Uint8Array, origin: unknown) => {
      if (origin !== "remote") updates.push(update);
    };
    this.doc.on("update", keep);
    this.text.insert(at, text);
    this.doc.off("update", keep);
    const answer = await this.#replica.update(this.#block, Y.mergeUpdates(updates));
    if (isProblem(answer)) throw new Error(answer.message);
  }
}

/** Lines of the person's own, typed a few letters at a time, wherever they have moved to meanwhile. */
async function type(
  person: Person,
  random: Random,
  next: () => Promise<boolean>,
  typed: string[],
): Promise<void> {
  await person.ready;
  for (let number = 1; await next(); number++) {
    const lines = person.text.toString().split("\n");
    const before = lines.slice(0, random.below(lines.length)).join("\n");
    const start = before === "" ? 0 : before.length + 1;
    const sent = person.insert(start, "\n");
    // The place before that newline, whatever comes before it.
    const place = Y.createRelativePositionFromTypeIndex(person.text, start);
    await sent;
    const line = `  // a person typed this, number ${number}`;
    for (let from = 0; from < line.length; from += 9) {
      const at = Y.createAbsolutePositionFromRelativePosition(place, person.doc)?.index ?? 0;
      await person.insert(at, line.slice(from, from + 9));
    }
    typed.push(line);
  }
}
