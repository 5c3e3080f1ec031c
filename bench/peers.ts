/**
 * Beside names that people know: agents stream tokens into shared texts, viewers have live copies of all of them, and the text
 * must be durable. The same tokens, agents and viewers through Blockyard's real server, through Hocuspocus (as it comes, and with
 * its store after every change), through automerge-repo, and through the floor, a relay that does nothing but store and pass on.
 * Server and load are processes of their own; every round starts them anew, in another order.
 *
 * Then the way of a line to a viewer at a steady pace, for more and more agents; and what the same texts need on disk.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Bench, type Figure, type Measured, measured, median, type Report } from "./bench.ts";
import { installPeers } from "./peer.ts";
import type { Flooded, Order, Paced } from "./peers/load.ts";
import { SYSTEMS, type System } from "./peers/stage.ts";
import { bytesOf, makeBlocks } from "./storage/blocks.ts";
import { measureOther, others } from "./storage/others.ts";
import { measureOurs } from "./storage/ours.ts";

const ROUNDS = 5;
const AGENTS = 10;
const VIEWERS = 5;
/** Tokens of each agent. Those whose cost for a token grows with the text get fewer, which is in their favour. */
const TOKENS: Readonly<Record<System, number>> = {
  blockyard: 1_000,
  hocuspocus: 1_000,
  "hocuspocus, debounce 0": 200,
  "automerge-repo": 40,
  relay: 1_000,
};
const PACED = ["blockyard", "relay", "hocuspocus"] as const satisfies readonly System[];
const PACED_AGENTS = [5, 10, 25, 50, 100];
/** Where the promises about latency hold. */
const PROMISED_AGENTS = 50;
const PACED_SECONDS = 1.4;
const STORED_BLOCKS = 1_200;
const COMPARED_BLOCKS = 200;

/** What it means when the system says that it has a write; from its source and documentation. */
const PROMISES: Readonly<Record<System, string>> = {
  blockyard:
    "answer: accepted; with wait: committed to SQLite (WAL, FULL); viewers see nothing that is not committed",
  hocuspocus:
    "sync status: applied in memory; the document is stored 2 s after the last change, at the latest after 10 s",
  "hocuspocus, debounce 0": "sync status: applied in memory; the whole document is stored at every change",
  "automerge-repo": "none; files are written at most every 100 ms, and not synced to the device",
  relay: "inserted into SQLite (WAL, FULL) before anybody sees it",
};

export const bench: Bench = {
  name: "peers",
  question:
    "How many durable tokens a second reach live viewers, how late, and at what size, compared with Hocuspocus, automerge-repo and a bare relay?",
  targets: {
    tokensPerSecondVsHocuspocus: { min: 5 },
    bytesPerTextByte: { max: 1.25 },
    p50ExtraMs: { max: 15 },
    p99Ratio: { max: 4 },
  },
  async run(report) {
    await installPeers();
    const folder = mkdtempSync(join(tmpdir(), "blockyard-peers-"));
    try {
      const rates = await floods(folder, report);
      const latencies = await paces(folder, report);
      return { ...rates, ...latencies, ...(await storage(folder)) };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** A load with its system, until it is closed. */
class Load {
  readonly #process: ChildProcess = fork(new URL("./peers/load.ts", import.meta.url), { stdio: "inherit" });

  static async open(system: System, agents: number, viewers: number, folder: string): Promise<Load> {
    const load = new Load();
    await load.tell({ type: "open", system, agents, viewers, folder });
    return load;
  }

  async tell(order: Order): Promise<unknown> {
    this.#process.send(order);
    const ended = once(this.#process, "exit").then(() => {
      throw new Error(`the load ended while it was told to ${order.type}`);
    });
    const [answer] = (await Promise.race([once(this.#process, "message"), ended])) as [unknown];
    ended.catch(() => undefined);
    return answer;
  }

  async close(): Promise<void> {
    await this.tell({ type: "close" });
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// As fast as it goes

interface Flow {
  readonly acknowledged: number;
  readonly seen: number;
  /** Tokens a second, until all of them are stored and seen by everybody. */
  readonly durable: number;
}

async function floods(folder: string, report: Report): Promise<Record<string, Figure>> {
  const flows = new Map<System, Flow[]>(SYSTEMS.map((system) => [system, []]));
  for (let round = 0; round < ROUNDS; round++) {
    const order = SYSTEMS.map((_, i) => SYSTEMS[(i + round) % SYSTEMS.length] as System);
    for (const system of round % 2 === 0 ? order : order.toReversed())
      flows.get(system)?.push(await flow(system, join(folder, `${system}-${round}`)));
  }
  const of = (system: System, what: keyof Flow) => (flows.get(system) as Flow[]).map((each) => each[what]);
  report.note(
    `${AGENTS} agents write tokens as fast as their sockets take them, ${VIEWERS} viewers follow all of them; ${ROUNDS} rounds, medians. ` +
      "Stored and seen: until every token is in the server's storage and in every viewer's copy. " +
      "A system that gets slower as the text grows writes fewer tokens, which favours it.",
  );
  report.table(
    SYSTEMS.map((system) => ({
      system,
      "tokens of each agent": TOKENS[system],
      "seen, tokens/s": Math.round(median(of(system, "seen"))),
      "stored and seen, tokens/s": Math.round(median(of(system, "durable"))),
      "what its acknowledgement promises": PROMISES[system],
    })),
  );
  const ratio = (what: keyof Flow, other: System, others: keyof Flow): Measured =>
    measured(of("blockyard", what).map((ours, round) => ours / (of(other, others)[round] as number)));
  report.note(
    "tokensPerSecondVsHocuspocus: both stored and seen, with Hocuspocus storing every change. …VsHocuspocusMemory: ours stored and " +
      "seen, Hocuspocus with its default setting only seen.",
  );
  return {
    tokensPerSecondVsHocuspocus: ratio("durable", "hocuspocus, debounce 0", "durable"),
    tokensPerSecondVsHocuspocusMemory: ratio("durable", "hocuspocus", "seen"),
    tokensPerSecondVsAutomerge: ratio("durable", "automerge-repo", "durable"),
    tokensPerSecondVsRelay: ratio("durable", "relay", "durable"),
  };
}

async function flow(system: System, folder: string): Promise<Flow> {
  const tokens = TOKENS[system];
  const load = await Load.open(system, AGENTS, VIEWERS, folder);
  await load.tell({ type: "flood", tokens: Math.ceil(tokens / 5), seed: 1 });
  const flooded = (await load.tell({ type: "flood", tokens, seed: 2 })) as Flooded;
  await load.close();
  const perSecond = (ms: number) => (tokens * AGENTS * 1_000) / ms;
  return {
    acknowledged: perSecond(flooded.acknowledgedMs),
    seen: perSecond(flooded.seenMs),
    durable: perSecond(Math.max(flooded.seenMs, flooded.storedMs)),
  };
}

// ---------------------------------------------------------------------------------------------------------------------
// At a steady pace

async function paces(folder: string, report: Report): Promise<Record<string, Figure>> {
  const most = Math.max(...PACED_AGENTS);
  const loads = new Map<System, Load>();
  for (const system of PACED)
    loads.set(system, await Load.open(system, most, VIEWERS, join(folder, `paced-${system}`)));
  const play = async (system: System, agents: number) =>
    (await loads.get(system)?.tell({ type: "pace", agents, seconds: PACED_SECONDS })) as Paced;
  for (const system of PACED) await play(system, PROMISED_AGENTS);
  const rows = new Map<number, Record<string, Paced[]>>();
  for (const agents of PACED_AGENTS) {
    const row: Record<string, Paced[]> = Object.fromEntries(PACED.map((system) => [system, []]));
    for (let round = 0; round < ROUNDS; round++) {
      const order = PACED.map((_, i) => PACED[(i + round) % PACED.length] as System);
      for (const system of order) row[system]?.push(await play(system, agents));
    }
    rows.set(agents, row);
  }
  for (const load of loads.values()) await load.close();
  tellPaces(report, rows);
  const promised = rows.get(PROMISED_AGENTS) as Record<string, Paced[]>;
  const [ours, floor] = [promised["blockyard"] as Paced[], promised["relay"] as Paced[]];
  return {
    p50ExtraMs: measured(ours.map(({ p50Ms }, i) => p50Ms - (floor[i] as Paced).p50Ms)),
    p99Ratio: measured(ours.map(({ p99Ms }, i) => p99Ms / (floor[i] as Paced).p99Ms)),
    p99Ms: measured(ours.map(({ p99Ms }) => p99Ms)),
  };
}

function tellPaces(report: Report, rows: ReadonlyMap<number, Record<string, Paced[]>>): void {
  const p50 = (paced: readonly Paced[] = []) => median(paced.map(({ p50Ms }) => p50Ms));
  const p99 = (paced: readonly Paced[] = []) => median(paced.map(({ p99Ms }) => p99Ms));
  report.note(
    `Each agent writes a line of 60 characters ten times a second, ${VIEWERS} viewers follow all of them: milliseconds from writing to a ` +
      "viewer's copy. Ours and the relay's lines are durable before they are seen; Hocuspocus's are not yet.",
  );
  report.table(
    [...rows].map(([agents, row]) => ({
      agents,
      ...Object.fromEntries(
        PACED.flatMap((system) => [
          [`${system} p50 ms`, p50(row[system]).toFixed(1)],
          [`${system} p99 ms`, p99(row[system]).toFixed(1)],
        ]),
      ),
    })),
  );
  report.plot({
    name: "latency",
    title: "From an agent's line to a viewer's copy, under load",
    x: { label: "agents, ten lines a second each", isLog: true },
    y: { label: "milliseconds", isLog: true },
    series: PACED.flatMap((system, colour) => [
      {
        name: `${system} p99`,
        colour,
        points: [...rows].map(([agents, row]) => [agents, p99(row[system])] as const),
      },
      {
        name: `${system} p50`,
        colour,
        isDashed: true,
        points: [...rows].map(([agents, row]) => [agents, p50(row[system])] as const),
      },
    ]),
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// On disk

/** Ours to theirs: the same texts, every flush kept. Ours with its search filters, theirs without an index. */
async function storage(folder: string): Promise<Record<string, Figure>> {
  const blocks = makeBlocks(STORED_BLOCKS);
  const { bytesPerTextByte } = await measureOurs(join(folder, "stored.db"), blocks);
  const compared = blocks.slice(0, COMPARED_BLOCKS);
  const figures: Record<string, Figure> = { bytesPerTextByte, storedTextBytes: bytesOf(blocks) };
  for (const other of await others()) {
    const stored = measureOther(join(folder, `${other.name}.db`), other, compared);
    figures[`storageVs${other.name.replace(/^./, (first) => first.toUpperCase())}`] =
      bytesPerTextByte / stored.bytesPerTextByte;
  }
  return figures;
}
