/**
 * Do more nodes on one database ever mean fewer writes? Three servers, a broker and a database are started; 24 writers create blocks
 * over HTTP, each waiting for its answer, through one, two or three of the servers: all into one conversation, and each into one of
 * its own. What the writers come to is set beside a bare loop: the same texts in batches of the same size, inserted into one table
 * of the same database by one connection, each batch durable before the next.
 *
 * The ways take turns, so that a noisy machine is noisy for all of them. Beside each stands the processor time that a write took in the
 * nodes, the writers and everything else (the database above all), and how many cores were busy: where all are, more nodes
 * cannot write more. So all of it is measured a second time with every node held to a small share of a core, as if each had a machine of its
 * own (`Apart`), where this machine allows that.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Broker, freePort } from "../test/nodes/broker.ts";
import { Node } from "../test/nodes/harness.ts";
import { connectTo, startServer, type TestClient } from "../test/postgres/server.ts";
import { type Bench, type Figure, measured, type Report } from "./bench.ts";
import { seeded, tokens } from "./corpus/prose.ts";
import { Quota } from "./nodes/quota.ts";

const NODES = 3;
const WRITERS = 24;
const ROUNDS = Number(process.env["NODES_ROUNDS"] ?? 5);
const WARM_UP_ROUNDS = 1;
const ROUND_MS = Number(process.env["NODES_ROUND_MS"] ?? 3_000);
/** Everything is written down by then, also what a conversation that was left is gathered to. */
const PAUSE_MS = 200;
const TEXT_CHARS = 200;
/** What a node has of a core where each is as if on its own machine: so little that the database and the writers have enough. */
const APART_CORES = 0.2;
const CONVERSATIONS = { one: 1, many: WRITERS } as const;

type Load = keyof typeof CONVERSATIONS;

interface Round {
  readonly perSecond: number;
  readonly transactionsPerWrite: number;
  readonly batch: number;
  readonly cpu: Cpu;
}

/** Milliseconds of processor time: of the nodes, of this process, of the machine. */
interface Cpu {
  readonly nodes: number;
  readonly writers: number;
  readonly all: number;
}

/** What Linux counts processor time in. */
const TICK_MS = 10;
/** Of a process's figures the one of its own time; that of the system follows. */
const USER_FIELD = 13;

export const bench: Bench = {
  name: "nodes",
  question: "How fast do two and three nodes write, relative to one node and to bare PostgreSQL inserts?",
  targets: {
    twoToOneInOne: { min: 1 },
    threeToOneInOne: { min: 1 },
    twoToOneInMany: { min: 1 },
    threeToOneInMany: { min: 1 },
    twoToOneInOneApart: { min: 1 },
    threeToOneInOneApart: { min: 1 },
    twoToOneInManyApart: { min: 1 },
    threeToOneInManyApart: { min: 1 },
  },
  async run(report) {
    const server = await startServer();
    const broker = await Broker.start();
    const database = await server.newDatabase();
    const token = randomBytes(32).toString("base64url");
    const nodes: Node[] = [];
    try {
      for (let n = 0; n < NODES; n++) {
        nodes.push(new Node(database, broker.url, await freePort(), token));
        await nodes[n]!.run();
      }
      const together = await measure(report, database, nodes, "");
      const quota = Quota.open();
      if (quota === undefined) report.note("This machine lets no process be held to a share of a core.");
      const pids = nodes.map(({ pid }) => pid);
      quota?.hold(pids, APART_CORES);
      const apart =
        quota && (await measure(report, database, nodes, "Apart").finally(() => quota.free(pids)));
      return { ...together, ...apart };
    } finally {
      for (const node of nodes) await node.end("SIGKILL");
      for (const node of nodes) node.clear();
      await broker.signal("SIGKILL");
      await server.stop();
    }
  },
};

async function measure(
  report: Report,
  database: string,
  nodes: readonly Node[],
  how: "" | "Apart",
): Promise<Readonly<Record<string, Figure>>> {
  const client = await connectTo(database);
  await client.query(
    "CREATE TABLE IF NOT EXISTS bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, text text)",
  );
  const texts = makeTexts(1_000);
  const figures: Record<string, Figure> = {};
  for (const load of Object.keys(CONVERSATIONS) as Load[]) {
    const rounds: Round[][] = Array.from({ length: NODES }, () => []);
    const bare: number[] = [];
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (let n = 1; n <= NODES; n++) {
        const found = await write(client, nodes.slice(0, n), CONVERSATIONS[load], texts);
        if (round >= 0) rounds[n - 1]!.push(found);
      }
      const batch = Math.max(1, Math.round(rounds[0]?.at(-1)?.batch ?? 1));
      const rate = await insert(client, texts, batch);
      if (round >= 0) bare.push(rate);
    }
    report.table([
      ...rounds.map((some, i) => ({
        conversations: CONVERSATIONS[load],
        setup: `${i + 1} node${i === 0 ? "" : "s"}${how === "" ? "" : `, ${APART_CORES} cores each`}`,
        "writes/s": Math.round(measured(some.map(({ perSecond }) => perSecond)).median),
        "transactions per write": measured(some.map((each) => each.transactionsPerWrite)).median.toFixed(2),
        "writes in a commit": measured(some.map(({ batch }) => batch)).median.toFixed(1),
        ...cpuColumns(some),
      })),
      {
        conversations: CONVERSATIONS[load],
        setup: "bare loop",
        "writes/s": Math.round(measured(bare).median),
        "transactions per write": "",
        "writes in a commit": "",
        "CPU ms a write: nodes": "",
        writers: "",
        "all else": "",
        "cores busy": "",
      },
    ]);
    Object.assign(figures, figuresOf(`${load === "one" ? "One" : "Many"}${how}`, rounds, bare));
  }
  await client.end();
  return figures;
}

function figuresOf(name: string, rounds: readonly (readonly Round[])[], bare: readonly number[]) {
  const [one = [], two = [], three = []] = rounds;
  const ratio = (some: readonly Round[]) =>
    measured(some.map(({ perSecond }, i) => perSecond / (one[i] as Round).perSecond));
  const perWrite = (some: readonly Round[]) => measured(some.map((each) => each.transactionsPerWrite));
  return {
    [`twoToOneIn${name}`]: ratio(two),
    [`threeToOneIn${name}`]: ratio(three),
    [`oneNodePerSecondIn${name}`]: measured(one.map(({ perSecond }) => perSecond)),
    [`transactionsPerWriteOfOneIn${name}`]: perWrite(one),
    [`transactionsPerWriteOfThreeIn${name}`]: perWrite(three),
    [`shareOfBareIn${name}`]: measured(one.map(({ perSecond }, i) => perSecond / (bare[i] as number))),
  };
}

function cpuColumns(some: readonly Round[]): Readonly<Record<string, string>> {
  const of = (pick: (cpu: Cpu) => number) => measured(some.map(({ cpu }) => pick(cpu))).median.toFixed(2);
  return {
    "CPU ms a write: nodes": of(({ nodes }) => nodes),
    writers: of(({ writers }) => writers),
    "all else": of(({ nodes, writers, all }) => all - nodes - writers),
    "cores busy": measured(some.map(({ cpu, perSecond }) => (cpu.all * perSecond) / 1_000)).median.toFixed(2),
  };
}

/** Processor time since each began. */
function cpuSince(nodes: readonly Node[]): Cpu {
  const ticksOf = (pid: number) => {
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(" ");
    return Number(fields[USER_FIELD]) + Number(fields[USER_FIELD + 1]);
  };
  const [, user = 0, nice = 0, system = 0] = (readFileSync("/proc/stat", "utf8").split("\n")[0] ?? "")
    .split(/\s+/)
    .map(Number);
  const own = process.cpuUsage();
  return {
    nodes: nodes.reduce((sum, { pid }) => sum + ticksOf(pid), 0) * TICK_MS,
    writers: (own.user + own.system) / 1_000,
    all: (user + nice + system) * TICK_MS,
  };
}

/** Writers at their nodes, for a round. */
async function write(
  client: TestClient,
  nodes: readonly Node[],
  count: number,
  texts: readonly string[],
): Promise<Round> {
  const conversations: string[] = [];
  for (let n = 0; n < count; n++)
    conversations.push((await nodes[0]!.do("conversation.create", { title: "bench" })).conversation);
  await sleep(PAUSE_MS);
  const before = await transactions(client);
  let written = 0;
  const cpuBefore = cpuSince(nodes);
  const startMs = performance.now();
  const endMs = startMs + ROUND_MS;
  await Promise.all(
    Array.from({ length: WRITERS }, async (_, writer) => {
      const node = nodes[writer % nodes.length]!;
      const conversation = conversations[writer % count]!;
      for (let i = 0; performance.now() < endMs; i++) {
        const content = texts[(writer * 31 + i) % texts.length]!;
        const made = { conversation, kind: "text", role: "user", status: "done", content };
        await node.do("block.create", made, `${writer}-${i}`);
        written++;
      }
    }),
  );
  const seconds = (performance.now() - startMs) / 1_000;
  const cpuAfter = cpuSince(nodes);
  const after = await transactions(client);
  const rows = await client.query(
    `SELECT count(*)::int AS blocks, count(DISTINCT xmin::text)::int AS commits FROM blockyard.chunk
      WHERE born > 0 AND conversation IN (SELECT id FROM blockyard.conversation WHERE name = ANY($1))`,
    [conversations],
  );
  const { blocks, commits } = rows[0] as { blocks: number; commits: number };
  if (blocks !== written) throw new Error(`${written} writes were answered, ${blocks} are there`);
  return {
    perSecond: written / seconds,
    transactionsPerWrite: (after - before) / written,
    batch: blocks / commits,
    cpu: {
      nodes: (cpuAfter.nodes - cpuBefore.nodes) / written,
      writers: (cpuAfter.writers - cpuBefore.writers) / written,
      all: (cpuAfter.all - cpuBefore.all) / written,
    },
  };
}

/** Rows a second that one connection inserts, `batch` to a transaction. */
async function insert(client: TestClient, texts: readonly string[], batch: number): Promise<number> {
  const startMs = performance.now();
  let inserted = 0;
  while (performance.now() < startMs + ROUND_MS) {
    const some = Array.from({ length: batch }, (_, i) => texts[(inserted + i) % texts.length]!);
    await client.query("INSERT INTO bare (text) SELECT unnest($1::text[])", [some]);
    inserted += batch;
  }
  return (inserted * 1_000) / (performance.now() - startMs);
}

async function transactions(client: TestClient): Promise<number> {
  // What the connections have done is counted a moment later.
  await sleep(PAUSE_MS);
  const rows = await client.query(
    `SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = current_database()`,
  );
  return (rows[0] as { count: number }).count;
}

function makeTexts(count: number): string[] {
  const source = tokens(seeded(41));
  return Array.from({ length: count }, () => {
    let text = "";
    while (text.length < TEXT_CHARS) text += source.next().value as string;
    return text;
  });
}
