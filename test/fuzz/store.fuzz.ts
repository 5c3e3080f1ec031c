/**
 * The store on SQLite against the one in memory: the same random commits, compactions and raw bytes to both, with little room
 * before things flush, so that every mixture of recent and flushed comes up. Now and then the store is closed and
 * opened, or killed: then its files, as they are, are opened somewhere else.
 */
import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BlockId, type BlockQuery, isEnded, MemoryStore, type Store } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { mergeRuns } from "../../packages/server/src/stores/encoding/runs.ts";
import { openSqliteStore, type SqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { everything } from "../faults/everything.ts";
import { Random } from "../sim/random.ts";
import type { Fuzz, FuzzOutcome } from "./fuzz.ts";

const STEPS = 250;

export const fuzz: Fuzz = {
  name: "store",
  sometimes: [
    "commit",
    "streamed append",
    "moved",
    "compacted",
    "compacted inside a run",
    "raw",
    "reopen",
    "kill",
    "promote",
    "splice",
    "query",
    "log",
  ],
  async run(seed): Promise<FuzzOutcome> {
    const directory = mkdtempSync(join(tmpdir(), "blockyard-fuzz-"));
    const run = new StoreRun(seed, directory);
    try {
      const detail = await run.go();
      return detail === undefined ? { ok: true, hits: run.hits } : { ok: false, hits: run.hits, detail };
    } finally {
      await run.end();
      rmSync(directory, { recursive: true, force: true });
    }
  },
};

class StoreRun {
  readonly hits: Record<string, number> = {};
  readonly #random: Random;
  readonly #directory: string;
  #memory = new MemoryStore("");
  #lives = 0;
  #sqlite: SqliteStore | undefined;
  readonly #dead: SqliteStore[] = [];
  readonly #scripts = ["a", "b", "c"].map((id) => new StoreScript(id));

  constructor(seed: number, directory: string) {
    this.#random = new Random(seed);
    this.#directory = directory;
  }

  async go(): Promise<string | undefined> {
    this.#sqlite = await this.#open();
    this.#memory = new MemoryStore(this.#sqlite.epoch);
    for (let step = 0; step < STEPS; step++) {
      const kind = this.#random.weighted({
        commit: 60,
        compacted: 4,
        raw: 6,
        reopen: 2,
        kill: 3,
        query: 8,
        log: 8,
        moved: 2,
      });
      const detail = await this.#step(kind);
      if (detail !== undefined) return `step ${step}, ${kind}: ${detail}`;
    }
    const [kept, wanted] = [await everything(this.#store), await everything(this.#memory)];
    return kept === wanted ? undefined : `at the end: ${difference(kept, wanted)}`;
  }

  async end(): Promise<void> {
    for (const store of [this.#sqlite, ...this.#dead]) await store?.close();
  }

  get #store(): SqliteStore {
    return this.#sqlite as SqliteStore;
  }

  async #step(kind: string): Promise<string | undefined> {
    this.#count(kind);
    switch (kind) {
      case "commit":
        return this.#commit();
      case "moved":
        return this.#moved();
      case "compacted":
        return this.#compact();
      case "raw":
        return this.#raw();
      case "query":
        return this.#query();
      case "log":
        return this.#log();
      case "reopen":
        await this.#store.close();
        this.#sqlite = await this.#open();
        return undefined;
      default:
        return this.#kill();
    }
  }

  async #commit(): Promise<undefined> {
    const script = this.#random.pick(this.#scripts);
    for (let i = this.#random.chance(0.5) ? 1 : this.#random.between(2, 5); i > 0; i--) this.#op(script);
    if (this.#random.chance(0.2)) script.answer(`key-${this.#random.below(40)}`, this.#random.below(1_000));
    const commit = script.take();
    // One append and nothing else is what the journal has a short form for.
    const isOne = commit.ops.length === 1 && commit.answers.length === 0;
    if (isOne && commit.ops[0]?.body.type === "append") this.#count("streamed append");
    await this.#memory.commit(commit);
    await this.#store.commit(commit);
  }

  #op(script: StoreScript): void {
    const random = this.#random;
    const open = [...script.blocks.values()].filter((block) => !isEnded(block.status));
    const block = open.length > 0 ? random.pick(open) : undefined;
    const kind = random.weighted({
      create: 4,
      append: 60,
      splice: 5,
      status: 3,
      meta: 3,
      prune: 1,
      title: 2,
      turn: 2,
    });
    if (kind === "title") script.title(random.text(2));
    else if (kind === "turn") script.turn({ ...TURN, id: `t${random.below(4)}`, startedAt: random.below(9) });
    else if (block === undefined || kind === "create") {
      const path = { path: `src/${random.below(50)}.ts` };
      const parent = random.chance(0.5) && block !== undefined ? block.id : null;
      script.create({ text: random.text(random.below(4)), parent, metadata: random.chance(0.3) ? path : {} });
    } else if (kind === "status") script.status(block.id, random.pick(["done", "error"]));
    else if (kind === "meta") script.meta(block.id, { label: random.text(2) });
    else if (kind === "prune") script.prune(block.id, random.chance(0.5));
    else if (kind === "append" && !block.promoted)
      script.append(block.id, random.text(random.between(1, 30)), 2);
    else this.#splice(script, block.id);
  }

  #splice(script: StoreScript, id: BlockId): void {
    if (!script.block(id).promoted) {
      this.#count("promote");
      script.promote(id);
    }
    this.#count("splice");
    const splice = {
      at: this.#random.chance(0.5) ? 0 : script.block(id).chars,
      del: "",
      ins: this.#random.text(2),
    };
    script.splice(
      id,
      "ada",
      [splice],
      Uint8Array.from({ length: this.#random.below(40) }, (_, i) => i),
    );
  }

  async #moved(): Promise<string | undefined> {
    const rival = new StoreScript("a");
    rival.create({ text: "too late" });
    const commit = { ...rival.take(), expectedSeq: 999_999 };
    const [kept, wanted] = [await this.#store.commit(commit), await this.#memory.commit(commit)];
    return JSON.stringify(kept) === JSON.stringify(wanted) ? undefined : "another answer to a stale commit";
  }

  async #compact(): Promise<undefined> {
    const block = this.#someBlock();
    if (block === undefined) return;
    const { ops } = await this.#memory.log(block, { version: 0 });
    const last = ops.at(this.#random.below(ops.length));
    if (last === undefined) return;
    if (last.body.type === "append" && last !== ops.at(-1)) this.#count("compacted inside a run");
    const text = await textAt(this.#memory, block, last.version);
    const compacted = {
      version: last.version,
      text,
      anchors: { ada: "AA==" },
      state: Uint8Array.of(1, 2, 3),
    };
    await this.#memory.compact(block, compacted);
    await this.#store.compact(block, compacted);
  }

  async #raw(): Promise<undefined> {
    const run = { conversation: "a", run: `turn-${this.#random.between(1, 2)}` };
    const bytes = Buffer.from(this.#random.text(this.#random.below(200)));
    await this.#memory.appendRaw(run, bytes);
    await this.#store.appendRaw(run, bytes);
  }

  async #query(): Promise<string | undefined> {
    const random = this.#random;
    const query: BlockQuery = {
      order: random.pick(["first", "last"]),
      limit: random.pick([1, 5, 1_000]),
      ...(random.chance(0.6) ? { conversation: random.pick(["a", "b", "c"]) } : {}),
      ...(random.chance(0.2) ? { status: random.pick(["pending", "running", "done"] as const) } : {}),
      ...(random.chance(0.2) ? { pathPrefix: random.pick(["src/1", "src/", ""]) } : {}),
      ...(random.chance(0.2) ? { changedSince: random.below(300) } : {}),
      ...(random.chance(0.2) ? { before: random.below(300) } : {}),
      ...(random.chance(0.2) ? { after: random.below(300) } : {}),
      ...(random.chance(0.2) ? { parent: this.#someBlock() ?? "a/model/1" } : {}),
    };
    const ids = async (store: Store) =>
      (await store.blocks(query)).map(({ id, version }) => `${id}@${version}`).join();
    const [kept, wanted] = [await ids(this.#store), await ids(this.#memory)];
    return kept === wanted ? undefined : `${JSON.stringify(query)} gave ${kept} instead of ${wanted}`;
  }

  async #log(): Promise<string | undefined> {
    const block = this.#someBlock();
    if (block === undefined) return undefined;
    const after = this.#random.chance(0.5)
      ? { version: this.#random.below(80) }
      : { seq: this.#random.below(600) };
    const [kept, wanted] = [await this.#store.log(block, after), await this.#memory.log(block, after)];
    const ends = (ops: typeof kept.ops) => mergeRuns(ops).map(({ version }) => version);
    // A run may begin before the point, and a compaction inside it is then given once more; where ops end is the same.
    if (JSON.stringify(ends(kept.ops)) !== JSON.stringify(ends(wanted.ops))) {
      return `${block} after ${JSON.stringify(after)}: ${ends(kept.ops)} instead of ${ends(wanted.ops)}`;
    }
    return wanted.compacted !== undefined && kept.compacted === undefined
      ? `${block}: the compaction was not given`
      : undefined;
  }

  /** The files as they are now are all that is left of the process. */
  async #kill(): Promise<undefined> {
    const from = this.#path(this.#lives);
    this.#dead.push(this.#store);
    this.#lives++;
    const to = this.#path(this.#lives);
    for (const ending of ["", "-wal"])
      if (existsSync(from + ending)) copyFileSync(from + ending, to + ending);
    this.#sqlite = await this.#open();
  }

  #open(): Promise<SqliteStore> {
    const pendingBytes = this.#random.pick([0, 2_000, 20_000]);
    const journalBytes = this.#random.pick([500, 5_000, 50_000]);
    return openSqliteStore(this.#path(this.#lives), { pendingBytes, journalBytes, durability: "normal" });
  }

  #path(life: number): string {
    return join(this.#directory, `${life}.db`);
  }

  #someBlock(): BlockId | undefined {
    const blocks = this.#scripts.flatMap((script) => [...script.blocks.keys()]);
    return blocks.length > 0 ? this.#random.pick(blocks) : undefined;
  }

  #count(name: string): void {
    this.hits[name] = (this.hits[name] ?? 0) + 1;
  }
}

const TURN = { id: "t", provider: "p", agent: "model", status: "running", startedAt: 1 } as const;

/** The text at a version, from a copy of the history, the slow way. */
async function textAt(store: MemoryStore, block: BlockId, version: number): Promise<string> {
  const { compacted, ops } = await store.log(block, { version: 0 });
  let text = compacted?.text ?? "";
  for (const op of ops) {
    if (op.version > version) break;
    const { body } = op;
    if (body.type === "create" || body.type === "append") text += body.text;
    if (body.type !== "splice") continue;
    for (const { at, del, ins } of body.splices) text = text.slice(0, at) + ins + text.slice(at + del.length);
  }
  return text;
}

function difference(kept: string, wanted: string): string {
  let at = 0;
  while (kept[at] === wanted[at]) at++;
  return `…${kept.slice(Math.max(0, at - 200), at + 200)}… instead of …${wanted.slice(Math.max(0, at - 200), at + 200)}…`;
}
