/** What is acknowledged is there, once, whatever becomes of connections and of the server. */
import { isProblem, Kernel } from "@blockyard/kernel";
import { nodeEnv } from "../../packages/server/src/env.ts";
import { openPostgresStore } from "../../packages/server/src/postgres/postgres.ts";
import { Random } from "../sim/random.ts";
import { type Check, known, require } from "./check.ts";
import { databaseIn, type TestServer } from "./server.ts";

const NODES = 2;
const WRITERS = 4;
const TERMINATIONS = 50;
const CRASHES = 5;

export const lossChecks: readonly Check[] = [
  {
    title: "[R22] [S30] all connections ended 50 times while commits are under way: none lost, none twice",
    run: (server) =>
      loseConnections(server, TERMINATIONS, async (url, random) => {
        await nodeSleep(random.between(5, 250));
        await server.run(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${databaseIn(url)}'`,
        );
      }),
  },
  {
    title: "[R22] [S30] the server killed 5 times while commits are under way: none lost, none twice",
    run: (server) =>
      loseConnections(server, CRASHES, async (_, random) => {
        await nodeSleep(random.between(50, 400));
        await server.crash();
      }),
  },
];

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
          require(["storage", "unavailable", "busy"].includes(
            answer.problem,
          ), `${answer.problem}: ${answer.message}`);
        }
        acknowledged.push(`${conversation} ${text}`);
      }
    }),
  );
  const random = new Random(7);
  for (let round = 0; round < rounds; round++) await harm(url, random);
  isOver = true;
  await Promise.all(writing);
  await Promise.all(kernels.map((kernel) => kernel.close()));
  await Promise.all(stores.map((store) => store.close()));
  const found = await everyText(url);
  for (const text of acknowledged)
    require(found.get(text) === 1, `${text} was acknowledged and is there ${found.get(text) ?? 0} times`);
  for (const [text, times] of found) require(times === 1, `${text} is there ${times} times`);
  require(acknowledged.length > 5 * rounds, `only ${acknowledged.length} writes: this shows nothing`);
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
