/** Acknowledged data exists, once, whatever happens to connections and to the server. */
import { isProblem, Kernel } from "@blockyard/kernel";
import {
  openPostgresStore,
  type PostgresOptions,
} from "../../packages/server/src/stores/postgres/postgres.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { isFull, require } from "../checks.ts";
import { Random } from "../sim/random.ts";
import { known, type StoreCheck } from "./check.ts";
import { startCutter } from "./cutter.ts";
import { databaseIn, type TestServer } from "./server.ts";

const NODES = 2;
const WRITERS = 4;
const TERMINATIONS = isFull ? 60 : 50;
/** Between two of them; otherwise only what must be acknowledged. */
const CALM_MS = isFull ? 5_000 : 0;
const CRASHES = isFull ? 50 : 5;
/** What must be acknowledged between one harm and the next. */
const WRITES_BETWEEN = 8;

export const lossChecks: readonly StoreCheck[] = [
  {
    title:
      "[S30] a commit whose answer is lost is found if it took effect, also a little later, and tried again if not",
    run: (server) => cutCommits(server, {}, true),
  },
  {
    title: "[S30] where its end is not waited for it is refused: until then its conversation is not read",
    run: (server) => cutCommits(server, { doubtMs: 0 }, false),
  },
  {
    title: `[R22] [S30] all connections ended ${TERMINATIONS} times while commits are under way: none lost, none twice`,
    run: (server) =>
      loseConnections(server, TERMINATIONS, async (url, random) => {
        await nodeSleep(CALM_MS + random.between(5, 250));
        await server.run(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${databaseIn(url)}'`,
        );
      }),
  },
  {
    title: `[R22] [S30] the server killed ${CRASHES} times while commits are under way: none lost, none twice`,
    run: (server) =>
      loseConnections(server, CRASHES, async (_, random) => {
        await nodeSleep(random.between(50, 400));
        await server.crash();
      }),
  },
];

/**
 * One keyed write after the other, each with its commit cut. What did not reach the server is tried again, or is a problem and
 * not there; what did is answered as if nothing had happened, also where it arrived only when the answer was looked for.
 */
async function cutCommits(
  server: TestServer,
  options: PostgresOptions,
  isTriedAgain: boolean,
): Promise<string> {
  const url = await server.newDatabase();
  const cutter = await startCutter(url);
  const store = await openPostgresStore(cutter.url, options);
  const kernel = new Kernel(nodeEnv, store);
  const conversation = known(await kernel.createConversation("ann", "cut"));
  const wanted: string[] = [];
  for (const when of ["after", "before", "late", "late", "before", "after"] as const) {
    const text = `${wanted.length} ${when}`;
    const write = () =>
      kernel.write(conversation, {
        agent: "ann",
        key: text,
        plan: (draft) => draft.create({ kind: "text", role: "user", text, status: "running" }),
      });
    const before = cutter.cuts;
    cutter.cut(when);
    const answer = await write();
    require(cutter.cuts === before + 1, "nothing was cut");
    if (when === "before" && !isTriedAgain) {
      require(isProblem(answer) && answer.problem === "storage", `${text}: ${JSON.stringify(answer)}`);
      const there = await store.blocks({ conversation, order: "first", limit: 99 });
      require(there.length === wanted.length, `${text} is there although it was refused`);
      known(await write());
    } else require(!isProblem(answer), `${text}: ${JSON.stringify(answer)}`);
    known(await write()); // sent again: it is answered again
    await kernel.wake(conversation); // and the transaction that looked for its key is over
    wanted.push(text);
  }
  const blocks = await store.blocks({ conversation, order: "first", limit: 99 });
  const texts = await Promise.all(blocks.map(({ id }) => store.text(id)));
  require(texts.join() === wanted.join(), texts.join());
  await kernel.close();
  await store.close();
  await cutter.stop();
  return texts.join(", ");
}

/** Keyed writes by several kernels, sent again until they are acknowledged, while `harm` is done again and again. */
async function loseConnections(
  server: TestServer,
  rounds: number,
  harm: (url: string, random: Random) => Promise<void>,
): Promise<string> {
  const url = await server.newDatabase();
  const stores = await Promise.all(Array.from({ length: NODES }, () => openPostgresStore(url)));
  const kernels = stores.map((store) => new Kernel(nodeEnv, store));
  const first = kernels[0] as Kernel;
  const shared = known(await first.createConversation("ann", "shared"));
  const acknowledged: string[] = [];
  let problems = 0;
  let isOver = false;
  const writing = kernels.flatMap((kernel, node) =>
    Array.from({ length: WRITERS }, async (_, writer) => {
      const own = `own-${node}-${writer}`;
      for (let i = 0; !isOver; i++) {
        // In a conversation of its own, where nobody moves it, and in one that all write to.
        const conversation = i % 2 === 0 ? own : shared;
        const text = `${node}-${writer}-${i}.`;
        for (;;) {
          const answer = await kernel.write(conversation, {
            agent: `w${node}${writer}`,
            key: text,
            create: true,
            plan: (draft) => draft.create({ kind: "text", role: "user", text }),
          });
          if (!isProblem(answer)) break;
          problems++;
          require(["storage", "uncertain", "busy"].includes(
            answer.problem,
          ), `${answer.problem}: ${answer.message}`);
        }
        acknowledged.push(`${conversation} ${text}`);
      }
    }),
  );
  const random = new Random(7);
  for (let round = 0; round < rounds; round++) {
    // Only what is at work can be harmed.
    const enough = acknowledged.length + WRITES_BETWEEN;
    while (acknowledged.length < enough) await Promise.race([nodeSleep(5), ...writing]);
    await harm(url, random);
  }
  isOver = true;
  await Promise.all(writing);
  await Promise.all(kernels.map((kernel) => kernel.close()));
  await Promise.all(stores.map((store) => store.close()));
  const found = await everyText(url);
  for (const text of acknowledged)
    require(found.get(text) === 1, `${text} was acknowledged and is there ${found.get(text) ?? 0} times`);
  for (const [text, times] of found) require(times === 1, `${text} is there ${times} times`);
  return `${acknowledged.length} acknowledged, none lost, none twice; ${problems} problems, all answered later`;
}

async function everyText(url: string): Promise<Map<string, number>> {
  const store = await openPostgresStore(url);
  const found = new Map<string, number>();
  for (const { id, seq } of await store.conversations({ limit: 1_000 })) {
    const blocks = await store.blocks({ conversation: id, order: "first", limit: 1e6 });
    const own = await store.conversationOps(id, 0);
    require(blocks.length + own.length ===
      seq, `${id} is at ${seq} with ${blocks.length} + ${own.length} ops`);
    for (const block of blocks) {
      const name = `${id} ${await store.text(block.id)}`;
      found.set(name, (found.get(name) ?? 0) + 1);
    }
  }
  await store.close();
  return found;
}

function nodeSleep(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}
