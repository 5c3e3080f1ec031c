/** The stored data, compared with the store in memory: random commits through two nodes; searches; gathering. */
import {
  type BlockId,
  isEnded,
  isProblem,
  type Kind,
  MemoryStore,
  type SearchAnswer,
  type SearchQuery,
  type Store,
} from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { openPostgresStore, type PostgresStore } from "../../packages/server/src/stores/postgres/postgres.ts";
import { require } from "../checks.ts";
import { everything } from "../faults/everything.ts";
import { Random } from "../sim/random.ts";
import type { StoreCheck } from "./check.ts";
import { databaseIn } from "./server.ts";

const STEPS = 700;

const QUERY: SearchQuery = {
  pattern: "needle",
  literal: true,
  ignoreCase: false,
  contextLines: 1,
  maxMatchesPerBlock: 10,
  maxBlocks: 200,
  deadlineMs: 250,
};

/** Asks again when the machine was too busy to find everything before the deadline: that is not what is tested. */
async function found(store: Store, asked: Partial<SearchQuery> = {}): Promise<SearchAnswer> {
  const query = { ...QUERY, ...asked };
  for (let tries = 0; ; tries++) {
    const answer = await store.search(query);
    const isLate = isProblem(answer)
      ? answer.problem === "timeout"
      : answer.more && answer.hits.length < query.maxBlocks;
    if (isLate && tries < 50) continue;
    if (isProblem(answer)) throw new Error(`${answer.problem}: ${answer.message}`);
    return answer;
  }
}

async function finds(store: Store, asked: Partial<SearchQuery>, wanted: readonly BlockId[]): Promise<void> {
  const ids = (await found(store, asked)).hits.map(({ block }) => block.id);
  require(ids.join() ===
    wanted.join(), `${JSON.stringify(asked)} found ${ids.join()} instead of ${wanted.join()}`);
}

export const contentChecks: readonly StoreCheck[] = [
  {
    title: "[S5] [S9] random commits, compactions and raw bytes through two nodes: the same as in memory",
    async run(server) {
      const url = await server.newDatabase();
      const stores = await Promise.all([openPostgresStore(url), openPostgresStore(url)]);
      const memory = new MemoryStore((stores[0] as PostgresStore).epoch);
      const random = new Random(11);
      const scripts = ["a", "b", "c"].map((id) => new StoreScript(id));
      for (let step = 0; step < STEPS; step++) {
        const store = random.pick(stores);
        const kind = random.weighted({ commit: 80, compacted: 3, raw: 8, gather: 3 });
        if (kind === "gather") await store.gather();
        else if (kind === "raw") {
          const run = { conversation: "a", run: `turn-${random.between(1, 2)}` };
          const bytes = Buffer.from(random.text(random.below(200)));
          await memory.appendRaw(run, bytes);
          await store.appendRaw(run, bytes);
        } else if (kind === "compacted") await compactBoth(memory, store, random, scripts);
        else {
          const script = random.pick(scripts);
          for (let i = random.between(1, 3); i > 0; i--) someOp(script, random);
          if (random.chance(0.2)) script.answer(`key-${random.below(40)}`, random.below(1_000));
          const commit = script.take();
          await memory.commit(commit);
          require((await store.commit(commit)).type === "committed", `step ${step}`);
        }
      }
      const wanted = await everything(memory);
      for (const store of stores) require((await everything(store)) === wanted, "not the same as in memory");
      for (const store of stores) await store.gather();
      for (const store of stores) require((await everything(store)) === wanted, "not the same when gathered");
      await Promise.all(stores.map((store) => store.close()));
      return `${wanted.length} characters`;
    },
  },
  {
    title: "[S26] a stream of 2,000 pieces becomes few rows while it runs, and one when it has ended",
    async run(server) {
      const url = await server.newDatabase();
      const store = await openPostgresStore(url);
      const script = new StoreScript("c");
      const block = script.create({ status: "running" });
      await script.commit(store);
      const commits = [];
      for (let i = 0; i < 2_000; i++) {
        script.append(block, `piece ${i} of a stream `, 2);
        commits.push(script.take());
        if (i % 10 === 0) await Promise.all(commits.splice(0).map((commit) => store.commit(commit)));
      }
      await Promise.all(commits.map((commit) => store.commit(commit)));
      const count = async () =>
        Number((await server.run("SELECT count(*) AS n FROM blockyard.chunk", databaseIn(url)))[0]?.["n"]);
      const before = await count();
      // By itself, a little later.
      for (let tries = 0; (await count()) > 40; tries++) {
        require(tries < 100, `${await count()} rows`);
        await new Promise((done) => setTimeout(done, 50));
      }
      const running = await count();
      script.status(block, "done");
      await script.commit(store);
      await store.gather();
      const ended = await count();
      require(ended <= 4, `${ended} rows for 50 KB`);
      const text = await store.text(block);
      require(text.length === script.block(block).chars &&
        text.endsWith("piece 1999 of a stream "), "the text");
      const { ops } = await store.log(block, { version: 0 });
      require(ops.length <= 6, `${ops.length} ops`);
      await store.close();
      return `${before} rows, ${running} while it ran, ${ended} at the end`;
    },
  },
  {
    title: "[Q22] what any node has committed is found by any other at once, as it is after every change",
    async run(server) {
      const url = await server.newDatabase();
      const [one, two] = await Promise.all([openPostgresStore(url), openPostgresStore(url)]);
      const script = new StoreScript("c");
      await finds(two, {}, []);
      const block = script.create({ text: "a needle", status: "running" });
      await script.commit(one);
      await finds(two, {}, [block]);
      script.append(block, " and a thimble");
      await script.commit(two);
      await finds(one, { pattern: "needle and a thimble" }, [block]);
      script.status(block, "done");
      await script.commit(one);
      await one.gather();
      await finds(two, { pattern: "thimble" }, [block]);
      await finds(two, { pattern: "pincushion" }, []);
      script.promote(block);
      script.splice(block, "ada", [{ at: 2, del: "needle", ins: "pincushion" }], new Uint8Array([1]));
      await script.commit(two);
      for (const gathered of [false, true]) {
        if (gathered) await two.gather();
        await finds(one, { pattern: "pincushion" }, [block]);
        await finds(one, {}, []);
      }
      const { version } = script.block(block);
      await one.compact(block, { version, text: await one.text(block), anchors: {} });
      await finds(two, { pattern: "pincushion" }, [block]);
      await Promise.all([one.close(), two.close()]);
      return undefined;
    },
  },
  {
    title: "[Q16] [Q17] [Q18] searches find the same as in memory, in the same order",
    async run(server) {
      const url = await server.newDatabase();
      const store = await openPostgresStore(url);
      const memory = new MemoryStore("m");
      const random = new Random(5);
      const words = ["needle", "thread", "Thimble", "button", "ZIP", "naïve", "σειρά", "😀"];
      const patterns = [...words, "needle.thread", "th(read|imble)", "\\bzip\\b", "^needle$", "n.*e"];
      const kinds: readonly Kind[] = ["text", "code", "file", "command"];
      let hits = 0;
      for (let round = 0; round < 3; round++) {
        for (let c = 0; c < 4; c++) {
          const script = new StoreScript(`c${round}-${c}`);
          script.now = 1_000 * random.below(3);
          for (let i = 0; i < 25; i++) {
            const kind = random.pick(kinds);
            const path = { path: `src/${random.below(3)}/x.ts` };
            const text = Array.from({ length: random.below(60) }, () => random.pick(words)).join(
              random.chance(0.5) ? " " : "\n",
            );
            const metadata = kind === "file" ? path : kind === "command" ? { command: "ls" } : {};
            const id = script.create({
              kind,
              metadata,
              text,
              status: random.chance(0.6) ? "done" : "running",
            });
            if (random.chance(0.25)) script.append(id, ` ${random.pick(words)}`);
          }
          const commit = script.take();
          await store.commit(commit);
          await memory.commit(commit);
        }
        if (round === 1) await store.gather();
        for (let i = 0; i < 30; i++) {
          const query = {
            pattern: random.pick(patterns),
            literal: random.chance(0.5),
            ignoreCase: random.chance(0.5),
            maxBlocks: random.pick([3, 200]),
            ...(random.chance(0.3) ? { conversation: `c${random.below(3)}-${random.below(4)}` } : {}),
            ...(random.chance(0.3) ? { kinds: kinds.slice(random.below(3)) } : {}),
            ...(random.chance(0.2) ? { pathPrefix: `src/${random.below(3)}` } : {}),
          };
          const [kept, wanted] = [await found(store, query), await found(memory, query)];
          require(JSON.stringify(kept) === JSON.stringify(wanted), JSON.stringify(query));
          hits += wanted.hits.length;
        }
      }
      await store.close();
      return `${hits} hits`;
    },
  },
  {
    title: "[Q19] [Q20] a pattern that takes for ever ends at its deadline, and nobody else waits for it",
    async run(server) {
      const url = await server.newDatabase();
      const store = await openPostgresStore(url);
      const script = new StoreScript("c");
      script.create({ text: "a".repeat(200_000), status: "done" });
      await script.commit(store);
      await found(store, { pattern: "b" });
      const order: string[] = [];
      const search = store
        .search({ ...QUERY, pattern: "(a?){250}a{250}$", literal: false })
        .then((answer) => order.push(isProblem(answer) ? answer.problem : "hits"));
      for (let i = 0; i < 3; i++) {
        script.create({ text: "while it searches" });
        await script.commit(store);
        order.push("commit");
      }
      await search;
      require(order.indexOf("timeout") > 0, order.join());
      require(order.filter((what) => what === "commit").length === 3, order.join());
      // A search whose connection is ended goes on with another one.
      await server.run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${databaseIn(url)}'`,
      );
      await finds(store, { pattern: "while it searches", maxBlocks: 3 }, [
        "c/model/4",
        "c/model/3",
        "c/model/2",
      ]);
      await store.close();
      return order.join(", ");
    },
  },
];

function someOp(script: StoreScript, random: Random): void {
  const open = [...script.blocks.values()].filter((block) => !isEnded(block.status));
  const block = open.length > 0 ? random.pick(open) : undefined;
  const kind = random.weighted({ create: 4, append: 60, splice: 5, status: 3, meta: 3, title: 2, turn: 2 });
  if (kind === "title") script.title(random.text(2));
  else if (kind === "turn")
    script.turn({
      id: `t${random.below(4)}`,
      provider: "p",
      agent: "model",
      status: "running",
      startedAt: 1,
    });
  else if (block === undefined || kind === "create") {
    const path = { path: `src/${random.below(50)}.ts` };
    const parent = random.chance(0.5) && block !== undefined ? block.id : null;
    script.create({ text: random.text(random.below(4)), parent, metadata: random.chance(0.3) ? path : {} });
  } else if (kind === "status") script.status(block.id, random.pick(["done", "error"]));
  else if (kind === "meta") script.meta(block.id, { label: random.text(2) });
  else if (kind === "append" && !block.promoted)
    script.append(block.id, random.text(random.between(1, 30)), 2);
  else {
    if (!block.promoted) script.promote(block.id);
    const at = random.chance(0.5) ? 0 : script.block(block.id).chars;
    script.splice(block.id, "ada", [{ at, del: "", ins: random.text(2) }], Uint8Array.of(random.below(256)));
  }
}

/** Compacts some block at some version, the same in both. */
async function compactBoth(
  memory: MemoryStore,
  store: PostgresStore,
  random: Random,
  scripts: readonly StoreScript[],
): Promise<void> {
  const blocks = scripts.flatMap((script) => [...script.blocks.keys()]);
  const block = blocks.length > 0 ? random.pick(blocks) : undefined;
  if (block === undefined) return;
  const { compacted: older, ops } = await memory.log(block, { version: 0 });
  if (ops.length === 0) return;
  const last = random.below(ops.length);
  let text = older?.text ?? "";
  for (const { body } of ops.slice(0, last + 1)) {
    if (body.type === "create" || body.type === "append") text += body.text;
    if (body.type !== "splice") continue;
    for (const { at, del, ins } of body.splices) text = text.slice(0, at) + ins + text.slice(at + del.length);
  }
  const version = ops[last]?.version ?? 0;
  const compacted = { version, text, anchors: { ada: "AA==" }, state: Uint8Array.of(1, 2, 3) };
  await memory.compact(block, compacted);
  await store.compact(block, compacted);
}
