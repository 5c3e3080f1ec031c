/**
 * Everything that a store has, as one value that can be compared; and a database with something of everything in it.
 */
import type { Block, Store } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { mergeRuns } from "../../packages/server/src/stores/encoding/runs.ts";
import { Random } from "../sim/random.ts";

const KEYS = 40;
const RUNS = ["turn-1", "turn-2"];
const BLOBS = ["hash-1", "hash-2"];
const ACTIONS = ["command.run", "turn.answer", "token.create"];

export async function fill(store: Store, seed: number, conversations: number): Promise<void> {
  const random = new Random(seed);
  for (let n = 0; n < conversations; n++) {
    const script = new StoreScript(`conversation-${n}`);
    script.title(random.text(4));
    for (let i = 0; i < 30; i++) await fillBlock(store, script, random);
    for (let i = 0; i < KEYS; i++) script.answer(`key-${i}`, { version: i, text: random.text(2) });
    script.turn({ id: `t${n}`, provider: "p", agent: "model", status: "done", startedAt: n, native: { n } });
    await script.commit(store);
    for (const run of RUNS) {
      await store.appendRaw({ conversation: script.id, run }, Buffer.from(random.text(400)));
    }
  }
  for (const hash of BLOBS) await store.putBlob(hash, "text/plain", Buffer.from(random.text(900)));
  await fillAudit(store, random, 60);
}

export async function fillAudit(store: Store, random: Random, entries: number): Promise<void> {
  for (let n = 0; n < entries; n++) {
    const action = ACTIONS[n % ACTIONS.length] as string;
    const entry = {
      at: n,
      agent: "root",
      role: "owner",
      by: "page",
      action,
      details: { text: random.text(9) },
    };
    await store.audit.append(entry, random.chance(0.5) ? `proof-${n}` : undefined);
  }
}

async function fillBlock(store: Store, script: StoreScript, random: Random): Promise<void> {
  const file = random.chance(0.2);
  const path = { path: `src/${random.below(1_000)}.ts` };
  const id = script.create({
    kind: file ? "file" : "text",
    metadata: file ? path : { messageId: random.text(1) },
  });
  const unit = 2;
  for (let i = random.between(0, 60); i > 0; i--) {
    script.append(id, random.text(random.between(1, 12)), unit);
    if (random.chance(0.2)) await script.commit(store);
  }
  if (random.chance(0.3)) {
    script.promote(id);
    const at = script.block(id).chars;
    script.splice(id, "ada", [{ at, del: "", ins: random.text(3) }], Buffer.from(random.text(3)));
  }
  if (random.chance(0.8)) script.status(id, "done");
  await script.commit(store);
  if (!random.chance(0.2)) return;
  const { version } = script.block(id);
  const text = await store.text(id);
  await store.compact(id, { version, text, state: Buffer.from(random.text(5)), anchors: { model: "AAEC" } });
}

/** All that the store gives back, in an order that does not depend on how it is stored. */
export async function everything(store: Store): Promise<string> {
  const conversations = [];
  for (const record of await store.conversations({ limit: 1e6 })) {
    const blocks = await store.blocks({ conversation: record.id, order: "first", limit: 1e6 });
    conversations.push({
      record: await store.conversation(record.id),
      turns: await store.turns(record.id),
      ops: await store.conversationOps(record.id, 0),
      answers: await Promise.all(Array.from({ length: KEYS }, (_, i) => store.answer(record.id, `key-${i}`))),
      raw: await Promise.all(
        (await store.rawRuns(record.id)).map(async (run) => [
          run,
          await store.raw({ conversation: record.id, run }),
        ]),
      ),
      blocks: await Promise.all(blocks.map((block) => wholeBlock(store, block))),
    });
  }
  const byStatus = await store.blocks({ status: "running", order: "last", limit: 1e6 });
  const byPath = await store.blocks({ pathPrefix: "src/", order: "first", limit: 1e6 });
  const blobs = await Promise.all(BLOBS.map((hash) => store.blob(hash)));
  const audit = [];
  for (const action of [undefined, ...ACTIONS])
    audit.push(
      await store.audit.read({ order: "first", limit: 1e6, ...(action === undefined ? {} : { action }) }),
    );
  // Databases of before there was one were hashed without it.
  const noted = audit.some((entries) => entries.length > 0) ? { audit } : {};
  const all = { epoch: store.epoch, conversations, running: byStatus, files: byPath, blobs, ...noted };
  return JSON.stringify(readable(all));
}

async function wholeBlock(store: Store, block: Block): Promise<unknown> {
  const { compacted, ops } = await store.log(block.id, { version: 0 });
  // Where the cuts are that the store may make is not part of what it has; nor where a run began of which a compaction took
  // the first part.
  const merged = mergeRuns(ops).map((op, i) =>
    i === 0 && compacted !== undefined ? { ...op, seqFrom: 0 } : op,
  );
  // Older databases were hashed under this name.
  const log = { fold: compacted, ops: merged };
  return { block: await store.block(block.id), log, text: await store.text(block.id) };
}

/** Bytes as text and keys in order, so that equal values are equal JSON. */
function readable(value: unknown): unknown {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(readable);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, readable(item)]));
}
