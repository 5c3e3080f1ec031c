/** Several nodes on one database: what each commits exists once, in order, and is read by all. */
import { setTimeout as sleep } from "node:timers/promises";
import { Kernel, newConversation, type Op, type Store } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import pg from "pg";
import { openPostgresStore, type PostgresStore } from "../../packages/server/src/stores/postgres/postgres.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { isFull, require } from "../checks.ts";
import { Random } from "../sim/random.ts";
import { known, type StoreCheck } from "./check.ts";
import { databaseIn, type TestServer } from "./server.ts";

const RACED = 1_000;
const WRITERS = 8;
const ROTATING = 12;
const EACH = 40;
/** Of the writers whose commits take their time. */
const SLOW_COMMITS = isFull ? 250 : 40;
const SLOW_OPS = isFull ? 50 : 1;
const SLOW = WRITERS * SLOW_COMMITS * SLOW_OPS;
const DELAY_S = isFull ? 0.2 : 0.02;

/** Commits a title, or several, planning anew as often as others are faster. How often that was. */
async function commitTitle(
  store: Store,
  conversation: string,
  agent: string,
  ...titles: readonly string[]
): Promise<number> {
  for (let moved = 0; ; moved++) {
    const record = (await store.conversation(conversation)) ?? newConversation(conversation, agent, 1);
    const ops = titles.map((title, i): Op => {
      const seq = record.seq + 1 + i;
      return {
        ...{ conversation, seq, seqFrom: seq, block: null, version: 0, versionFrom: 0 },
        ...{ agent, unit: 0, at: seq, body: { type: "conversation", patch: { title } } },
      };
    });
    const seq = record.seq + ops.length;
    const after = { ...record, title: titles.at(-1) ?? record.title, seq, updatedAt: seq };
    const parts = { ops, blocks: [], record: after, turns: [], answers: [] };
    const answer = await store.commit({ conversation, expectedSeq: record.seq, ...parts });
    if (answer.type === "committed") return moved;
  }
}

function titlesOf(ops: readonly Op[]): string[] {
  return ops.map(({ body }) => (body.type === "conversation" ? String(body.patch.title) : "?"));
}

function requireDense(ops: readonly Op[], count: number): void {
  require(ops.length === count, `${ops.length} ops instead of ${count}`);
  for (const [i, { seq }] of ops.entries()) require(seq === i + 1, `op ${i + 1} has number ${seq}`);
  require(new Set(titlesOf(ops)).size === count, "something is there twice");
}

async function withStores<T>(
  url: string,
  count: number,
  work: (stores: readonly PostgresStore[]) => Promise<T>,
): Promise<T> {
  const stores = await Promise.all(Array.from({ length: count }, () => openPostgresStore(url)));
  try {
    return await work(stores);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

export const nodeChecks: readonly StoreCheck[] = [
  {
    title:
      "[S28] two nodes race 1,000 commits on one conversation: the numbers are dense and nothing is lost",
    async run(server) {
      const url = await server.newDatabase();
      return withStores(url, 2, async (stores) => {
        const moved = await Promise.all(
          stores.flatMap((store, node) =>
            [0, 1].map(async (writer) => {
              let often = 0;
              for (let i = 0; i < RACED / 4; i++)
                often += await commitTitle(store, "race", `n${node}`, `${node}-${writer}-${i}`);
              return often;
            }),
          ),
        );
        for (const store of stores) requireDense(await store.conversationOps("race", 0), RACED);
        const often = moved.reduce((sum, each) => sum + each, 0);
        require(often > 0, "nobody was ever too late: this was no race");
        return `too late ${often} times`;
      });
    },
  },
  {
    title: "[S28] a group is one transaction, and a commit in it that has moved does not disturb the others",
    async run(server) {
      const url = await server.newDatabase();
      return withStores(url, 1, async ([store]) => {
        if (!store) return undefined;
        const scripts = Array.from({ length: 200 }, (_, i) => new StoreScript(`c${i}`));
        for (const script of scripts) script.create({ text: "one" });
        await Promise.all(scripts.map((script) => script.commit(store)));
        for (const script of scripts) script.create({ text: "two" });
        const commits = scripts.map((script) => script.take());
        const stale = commits.map((commit, i) => (i % 10 === 0 ? { ...commit, expectedSeq: 9 } : commit));
        const number = async () =>
          Number((await server.run("SELECT pg_current_xact_id()::text AS n"))[0]?.["n"]);
        const before = await number();
        const answers = await Promise.all(stale.map((commit) => store.commit(commit)));
        const transactions = (await number()) - before - 1;
        for (const [i, { type }] of answers.entries())
          require(type === (i % 10 === 0 ? "moved" : "committed"), `commit ${i} was ${type}`);
        require(transactions <= 5, `${transactions} transactions for 200 commits`);
        return `${transactions} transactions for 200 commits`;
      });
    },
  },
  {
    title:
      "[R23] [S29] eight writers whose commits take their time, and a reader that resumes by number misses none",
    async run(server) {
      const url = await server.newDatabase();
      return withStores(url, WRITERS + 1, async (stores) => {
        const [reader, ...writers] = stores as [PostgresStore, ...PostgresStore[]];
        await slowDown(server.run, databaseIn(url), "blockyard.chunk");
        const seen: string[] = [];
        let cursor = 0;
        let isDone = false;
        const reading = (async () => {
          for (let last = false; ; last = isDone) {
            for (const op of await reader.conversationOps("slow", cursor)) {
              seen.push(...titlesOf([op]));
              cursor = op.seq;
            }
            if (last) return;
          }
        })();
        const random = new Random(3);
        await Promise.all(
          writers.map(async (store, node) => {
            for (let i = 0; i < SLOW_COMMITS; i++) {
              // Mostly their own conversation, so that transactions overlap; often all of them the same.
              if (random.chance(0.5)) await commitTitle(store, `own-${node}`, `n${node}`, `x${i}`);
              const titles = Array.from({ length: SLOW_OPS }, (_, op) => `${node}-${i}-${op}`);
              await commitTitle(store, "slow", `n${node}`, ...titles);
            }
          }),
        );
        isDone = true;
        await reading;
        requireDense(await reader.conversationOps("slow", 0), SLOW);
        require(new Set(seen).size === SLOW, `saw ${new Set(seen).size} of ${SLOW}`);
        require(seen.length === SLOW, "saw something twice");
        const missed = await naiveControl(url, server.run);
        require(missed > 0, "the naive control missed nothing: this test shows nothing");
        return `read ${seen.length}, missed 0; the control missed ${missed}`;
      });
    },
  },
  {
    title:
      "[N20] three nodes write to one conversation, and each transaction commits what waits at one of them",
    async run(server) {
      const url = await server.newDatabase();
      return withStores(url, 3, async (stores) => {
        const kernels = stores.map((store) => new Kernel(nodeEnv, store));
        const perWrite: number[] = [];
        for (const nodes of [kernels.slice(0, 1), kernels]) {
          const conversation = known(await (nodes[0] as Kernel).createConversation("ann", "together"));
          const before = await transactionsOf(server.run, databaseIn(url));
          await Promise.all(
            Array.from({ length: ROTATING }, async (_, writer) => {
              const kernel = nodes[writer % nodes.length] as Kernel;
              for (let i = 0; i < EACH; i++) {
                const text = `${writer}-${i}`;
                const start = { kind: "text", role: "user", status: "running", text } as const;
                known(
                  await kernel.write(conversation, {
                    agent: "ann",
                    key: text,
                    plan: (draft) => draft.create(start),
                  }),
                );
              }
            }),
          );
          const after = await transactionsOf(server.run, databaseIn(url));
          perWrite.push((after - before) / (ROTATING * EACH));
          const blocks = known(await (nodes[0] as Kernel).allBlocks(conversation));
          require(blocks.length === ROTATING * EACH, `${blocks.length} blocks`);
        }
        const [one, three] = perWrite as [number, number];
        // Four writers at each node: a commit for every four. Whoever is too late reads, and tries again, and is too late.
        require(three < 1, `${three.toFixed(2)} for each write, ${one.toFixed(2)} at one node`);
        return `${one.toFixed(2)} transactions for each write at one node, ${three.toFixed(2)} at three`;
      });
    },
  },
  {
    title: "[S28] kernels on two nodes write to the same blocks and come to the same",
    async run(server) {
      const url = await server.newDatabase();
      return withStores(url, 2, async (stores) => {
        const kernels = stores.map((store) => new Kernel(nodeEnv, store));
        const [one, two] = kernels as [Kernel, Kernel];
        const conversation = known(await one.createConversation("ann", "together"));
        const block = known(
          await one.write(conversation, {
            agent: "ann",
            plan: (draft) => draft.create({ kind: "text", role: "user", text: "start\n" }),
          }),
        );
        const told = kernels.map((kernel) => {
          const seqs: number[] = [];
          kernel.listen(({ ops }) => seqs.push(...ops.map(({ seq }) => seq)));
          return seqs;
        });
        await Promise.all(
          [one, two].map(async (kernel, node) => {
            for (let i = 0; i < 40; i++) {
              const agent = node === 0 ? "ann" : "bob";
              known(
                await kernel.writeBlock(block.id, {
                  agent,
                  plan: (draft) => draft.append(block.id, `${agent} ${i}\n`),
                }),
              );
            }
          }),
        );
        for (const kernel of kernels) await kernel.wake(conversation);
        const texts = await Promise.all(
          kernels.map(async (kernel) => known(await kernel.whole(block.id)).text),
        );
        require(texts[0] === texts[1], "two nodes have two texts");
        for (const agent of ["ann", "bob"])
          for (let i = 0; i < 40; i++)
            require((texts[0] as string).split(`${agent} ${i}\n`).length ===
              2, `${agent} ${i} is not there once`);
        const records = await Promise.all(kernels.map(async (kernel) => known(await kernel.block(block.id))));
        require(JSON.stringify(records[0]) === JSON.stringify(records[1]), "two nodes have two records");
        for (const seqs of told) require(isAscending(seqs), "a listener was told out of order");
        await Promise.all(kernels.map((kernel) => kernel.close()));
        return `${records[0]?.version} versions`;
      });
    },
  },
];

/** Commits that write to the table take between nothing and DELAY_S longer, each another time. */
async function slowDown(
  run: (text: string, database: string) => Promise<unknown>,
  database: string,
  table: string,
): Promise<void> {
  await run(
    `CREATE OR REPLACE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN PERFORM pg_sleep(random() * ${DELAY_S}); RETURN NULL; END $$`,
    database,
  );
  await run(
    `CREATE TRIGGER slow AFTER INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION slow()`,
    database,
  );
}

/** The same with a sequence of the database instead of the conversation's row: how many a reader misses. */
async function naiveControl(
  url: string,
  run: (text: string, database: string) => Promise<unknown>,
): Promise<number> {
  await run("CREATE TABLE naive (id bigserial PRIMARY KEY)", databaseIn(url));
  await slowDown(run, databaseIn(url), "naive");
  const clients = await Promise.all(
    Array.from({ length: WRITERS + 1 }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    }),
  );
  const [reader, ...writers] = clients as [pg.Client, ...pg.Client[]];
  let isDone = false;
  let seen = 0;
  const reading = (async () => {
    let cursor = 0;
    for (let last = false; ; last = isDone) {
      const { rows } = await reader.query("SELECT id FROM naive WHERE id > $1 ORDER BY id", [cursor]);
      seen += rows.length;
      cursor = Number(rows.at(-1)?.id ?? cursor);
      if (last) return;
    }
  })();
  await Promise.all(
    writers.map(async (client) => {
      for (let i = 0; i < SLOW_COMMITS; i++) await client.query("INSERT INTO naive DEFAULT VALUES");
    }),
  );
  isDone = true;
  await reading;
  await Promise.all(clients.map((client) => client.end()));
  return WRITERS * SLOW_COMMITS - seen;
}

function isAscending(numbers: readonly number[]): boolean {
  return numbers.every((number, i) => i === 0 || number > (numbers[i - 1] as number));
}

/** How many transactions a database has seen. What connections have done is counted when they next have nothing to do. */
async function transactionsOf(run: TestServer["run"], database: string): Promise<number> {
  let last = -1;
  for (;;) {
    const [row] = await run(
      `SELECT (xact_commit + xact_rollback)::float8 AS count FROM pg_stat_database WHERE datname = '${database}'`,
    );
    const count = Number(row?.["count"]);
    if (count === last) return count;
    last = count;
    await sleep(1_100);
  }
}
