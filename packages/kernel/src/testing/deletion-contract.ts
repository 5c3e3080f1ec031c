/** The contract of stores about deleted conversations: part of store-contract.ts, whose checks it adds to. */

import type { SearchQuery, Store } from "../ports/store.ts";
import type { ContractCheck } from "./contract-check.ts";
import { StoreScript } from "./store-script.ts";

type Same = (actual: unknown, expected: unknown, what: string) => void;

const bytes = new TextEncoder().encode("raw line of c\n");

/** A conversation with everything that one can have, and its blobs: `own` is named by no other. */
async function filled(store: Store, id: string): Promise<StoreScript> {
  const script = new StoreScript(id);
  const shown = { blob: "shared", mediaType: "image/png" };
  script.create({ text: `the secret of ${id}`, status: "done", metadata: { attachments: [{ blob: id }] } });
  script.create({ kind: "image", text: "", status: "done", metadata: shown });
  script.title(`title of ${id}`);
  script.turn({ id: "t", provider: "p", agent: "a", status: "done", startedAt: 1 });
  script.answer("k", id);
  for (const blob of [id, "shared"]) await store.putBlob(blob, "image/png", new Uint8Array([1, 2, 3]));
  await script.commit(store);
  await store.appendRaw({ conversation: id, run: "r" }, bytes);
  return script;
}

const query: SearchQuery = {
  pattern: "secret",
  literal: true,
  ignoreCase: false,
  contextLines: 0,
  maxMatchesPerBlock: 1,
  maxBlocks: 100,
  deadlineMs: 250,
};

async function found(store: Store, more: Partial<SearchQuery> = {}): Promise<string[]> {
  const answer = await store.search({ ...query, ...more });
  return "hits" in answer ? answer.hits.map(({ block }) => block.conversation).sort() : [answer.message];
}

export function deletionChecks(same: Same): readonly ContractCheck[] {
  return [
    {
      title: "[S90] what is excepted is in no list and no search",
      async run({ store }) {
        for (const id of ["c", "d"]) await filled(store, id);
        const ids = (found: readonly { readonly id: string }[]) => found.map(({ id }) => id).sort();
        same(ids(await store.conversations({ limit: 1, except: ["d"] })), ["c"], "conversations");
        const blocks = await store.blocks({ kinds: ["text"], order: "first", limit: 1, except: ["c"] });
        same(ids(blocks), ["d/model/1"], "blocks");
        same(await found(store, { except: ["c"] }), ["d"], "search");
        same(await found(store), ["c", "d"], "search of all");
      },
    },
    {
      title:
        "[S91] an entry waits until it is withdrawn or its conversation is removed, and is found for ever then",
      async run({ store, reopen }) {
        const script = await filled(store, "c");
        const entry = { conversation: "c", at: 5, by: "ann" };
        await store.deletions.note(entry);
        await store.deletions.note({ ...entry, at: 6 });
        same(await store.deletions.waiting(), [entry], "waiting");
        await store.deletions.withdraw("c");
        same(await store.deletions.waiting(), [], "withdrawn");
        same(await store.deletions.remove("c", script.record.seq, 7), "moved", "remove without an entry");
        await store.deletions.note(entry);
        same(await store.deletions.remove("c", script.record.seq - 1, 7), "moved", "remove of an older one");
        same(await store.conversation("c"), script.record, "still there");
        same(await store.deletions.remove("c", script.record.seq, 7), "removed", "remove");
        await store.deletions.withdraw("c");
        for (const opened of [store, await reopen()]) {
          same(await opened.deletions.waiting(), [], "waiting");
          same(await opened.deletions.find("c"), { ...entry, removedAt: 7 }, "entry");
          same(await opened.deletions.find("d"), undefined, "no entry");
        }
      },
    },
    {
      title: "[S92] of a removed conversation nothing is left, and of others everything",
      async run({ store, reopen }) {
        const script = await filled(store, "c");
        const other = await filled(store, "d");
        await found(store);
        await store.deletions.note({ conversation: "c", at: 5, by: "ann" });
        await store.deletions.remove("c", script.record.seq, 7);
        await store.deletions.clear();
        for (const opened of [store, await reopen()]) {
          same(await opened.conversation("c"), undefined, "record");
          same(await opened.turns("c"), [], "turns");
          same(await opened.answer("c", "k"), undefined, "answer");
          same(await opened.conversationOps("c", 0), [], "own ops");
          same(await opened.block("c/model/1"), undefined, "block");
          same(await opened.log("c/model/1", { version: 0 }), { ops: [] }, "log");
          same(await opened.text("c/model/1"), "", "text");
          same(await opened.blocks({ conversation: "c", order: "first", limit: 9 }), [], "blocks");
          same(await opened.rawRuns("c"), [], "raw runs");
          same((await opened.raw({ conversation: "c", run: "r" })).length, 0, "raw bytes");
          same(await opened.blob("c"), undefined, "its blob");
          same(await found(opened), ["d"], "search");
          same(
            (await opened.conversations({ limit: 9 })).map(({ id }) => id),
            ["d"],
            "list",
          );
          same(await opened.conversation("d"), other.record, "the other's record");
          same(await opened.text("d/model/1"), "the secret of d", "the other's text");
          same([...(await opened.raw({ conversation: "d", run: "r" }))], [...bytes], "the other's raw bytes");
          same((await opened.blob("shared"))?.bytes.length, 3, "a blob that another block names");
          same((await opened.blob("d"))?.bytes.length, 3, "the other's blob");
        }
      },
    },
    {
      title: "[S92] what is written behind a removal is found, also after a restart",
      async run({ store, reopen }) {
        const script = await filled(store, "c");
        await store.deletions.note({ conversation: "c", at: 5, by: "ann" });
        await store.deletions.remove("c", script.record.seq, 7);
        await filled(store, "d");
        same(await found(store), ["d"], "search");
        const opened = await reopen();
        await filled(opened, "e");
        same(await found(opened), ["d", "e"], "search after a restart");
        same(await opened.text("e/model/1"), "the secret of e", "text");
      },
    },
  ];
}
