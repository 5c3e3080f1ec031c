/**
 * The contract of the store port, as checks that any store can be put through: docs/spec/store.md has the rules, one or
 * more checks each. No test runner is needed: a check throws where the store does not keep the rule.
 *
 * Every check gets a store of its own, empty. Most look twice: right after writing, and in the store opened again.
 */

import type { Conversation, Turn } from "../model/conversation.ts";
import type { BlockId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import { type Op, splicesOf } from "../model/op.ts";
import { readMissed } from "../ports/missed.ts";
import type { BlockLog, BlockQuery, Missed, Store, TurnedCommit } from "../ports/store.ts";
import { spliced } from "../ports/store-rules.ts";
import type { ContractCheck } from "./contract-check.ts";
import { deletionChecks } from "./deletion-contract.ts";
import { StoreScript } from "./store-script.ts";

export { StoreScript } from "./store-script.ts";

export const contract: readonly ContractCheck[] = [
  ...deletionChecks(same),
  {
    title: "[S1] a commit that does not fit the stored sequence number is moved, and writes nothing",
    async run({ store }) {
      const script = new StoreScript("c");
      const block = script.create({ text: "one" });
      same(await script.commit(store), { type: "committed" }, "first commit");
      const rival = new StoreScript("c");
      rival.create({ text: "two" });
      rival.title("of the rival");
      rival.answer("k", 1);
      same(await rival.commit(store), { type: "moved", seq: 1 }, "commit on 0");
      same(await store.conversation("c"), script.record, "record");
      same(await store.text(block), "one", "text");
      same(await store.answer("c", "k"), undefined, "answer");
      same(await store.conversationOps("c", 0), [], "ops of the conversation");
      const ahead = { ...rival.take(), expectedSeq: 7 };
      same(await store.commit(ahead), { type: "moved", seq: 1 }, "commit on 7");
      same(
        await store.commit({ ...ahead, conversation: "d" }),
        { type: "moved", seq: 0 },
        "commit on nothing",
      );
    },
  },
  {
    title: "[S1] of two commits on one sequence number, one is committed and one is moved",
    async run({ store }) {
      const first = new StoreScript("c");
      const second = new StoreScript("c", "bob");
      const others = Array.from({ length: 20 }, (_, i) => new StoreScript(`other-${i}`));
      for (const script of [first, second, ...others]) script.create({ text: script.record.createdBy });
      const answers = await Promise.all([first, second, ...others].map((script) => script.commit(store)));
      same(
        answers
          .slice(0, 2)
          .map(({ type }) => type)
          .sort(),
        ["committed", "moved"],
        "the race",
      );
      same(
        answers.slice(2),
        others.map(() => ({ type: "committed" })),
        "other conversations",
      );
      const winner = answers[0]?.type === "committed" ? first : second;
      same(await store.conversation("c"), winner.record, "the winner's record");
    },
  },
  {
    title:
      "[S2] commits of one conversation that follow each other without waiting are all committed, in order",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const block = script.create();
      const commits = [script.take()];
      for (let i = 0; i < 50; i++) {
        script.append(block, `${i} `, 2);
        commits.push(script.take());
      }
      const answers = await Promise.all(commits.map((commit) => store.commit(commit)));
      ok(
        answers.every(({ type }) => type === "committed"),
        "all committed",
      );
      await readsBack(store, script);
      await readsBack(await reopen(), script);
    },
  },
  {
    title: "[S3] ops, records, turns and answers of a commit are there together, and after reopening",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const block = script.create({
        text: "hello",
        metadata: { model: "m", extra: { deep: [1, null, "x"] } },
      });
      const title = script.title("A title");
      const turn = script.turn(someTurn("t1"));
      script.answer("key-1", { version: 1, list: [true] });
      await script.commit(store);
      for (const opened of [store, await reopen()]) {
        same(await opened.conversation("c"), script.record, "record");
        same(await opened.block(block), script.block(block), "block");
        same(await opened.conversationOps("c", 0), [title, turn], "ops of the conversation");
        same(await opened.conversationOps("c", title.seq), [turn], "ops after the title");
        same(await opened.turns("c"), [someTurn("t1")], "turns");
        same(await opened.answer("c", "key-1"), { version: 1, list: [true] }, "answer");
        same(await opened.answer("c", "key-2"), undefined, "no answer");
      }
    },
  },
  {
    title: "[S4] the epoch stays while the store does",
    async run({ store, reopen }) {
      const { epoch } = store;
      ok(epoch !== "", "an epoch");
      same((await reopen()).epoch, epoch, "epoch");
    },
  },
  {
    title: "[S5] ops come back as they went in, appends of one unit perhaps as runs",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const block = script.create({ text: "# Title\n", metadata: { messageId: "m1" } });
      const other = script.create();
      const expected: Op[] = [];
      const keep = (op: Op) => expected.push(op);
      await script.commit(store);
      for (let i = 0; i < 300; i++) {
        keep(script.append(block, `word ${i}${i % 7 === 0 ? "\n" : " "}`, 2));
        if (i % 3 === 0) script.append(other, "-", 2);
        await script.commit(store);
      }
      keep(script.append(block, "another unit"));
      keep(script.meta(block, { model: "m2" }));
      keep(script.append(block, "!", script.block(block).version - 1));
      keep(script.prune(block, true));
      keep(script.status(block, "done", { reason: "truncated" }));
      await script.commit(store);
      for (const opened of [store, await reopen()]) {
        const { ops, compacted } = await opened.log(block, { version: 1 });
        same(compacted, undefined, "no compaction");
        sameRuns(ops, expected);
        await readsBack(opened, script);
      }
    },
  },
  {
    title:
      "[S6] a log is read from a version or from a sequence number; a run that spans the point is given whole",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const block = script.create();
      const other = script.create();
      const ops: Op[] = [];
      for (let i = 0; i < 120; i++) {
        ops.push(script.append(block, `${i},`, i < 60 ? 2 : 62));
        script.append(other, ".", 2);
        await script.commit(store);
      }
      const opened = await reopen();
      for (const from of [store, opened]) {
        for (const { version, seq } of [ops[0], ops[30], ops[59], ops[60], ops[118], ops[119]] as Op[]) {
          covers(
            await from.log(block, { version }),
            ops.filter((op) => op.version > version),
          );
          covers(
            await from.log(block, { seq }),
            ops.filter((op) => op.seq > seq),
          );
        }
        covers(await from.log(block, { seq: (ops[119] as Op).seq + 5 }), []);
        covers(await from.log(block, { version: 1_000 }), []);
      }
    },
  },
  {
    title: "[S7] promotion and splices come back with their updates, and the text is what they come to",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const block = script.create({ text: "hello world" });
      const expected = [script.promote(block)];
      const update = Uint8Array.from({ length: 300 }, (_, i) => i % 256);
      const swap = { at: 0, del: "hello", ins: "héllo" };
      expected.push(script.splice(block, "ada", [swap, { at: 5, del: " ", ins: "\n" }], update));
      expected.push(script.splice(block, "model", [], new Uint8Array(), { anchor: "AQID" }));
      expected.push(
        script.splice(block, "ada", [{ at: 6, del: "world", ins: "" }], new Uint8Array(1), { undo: 3 }),
      );
      expected.push(
        script.splice(block, "ada", [{ at: 6, del: "", ins: "world" }], new Uint8Array(2), { redo: 3 }),
      );
      const kept = expected.map((op) => structured(op));
      await script.commit(store);
      update.fill(9);
      for (const opened of [store, await reopen()]) {
        const { ops } = await opened.log(block, { version: 1 });
        same(ops, kept, "ops");
        for (const { body } of ops) if (body.type === "splice") body.update.fill(7);
        same((await opened.log(block, { version: 1 })).ops, kept, "ops after a reader wrote into them");
        same(await opened.text(block), "héllo\nworld", "text");
        same((await opened.block(block))?.promoted, true, "promoted");
      }
    },
  },
  {
    title: "[S8] many splices in a large text come to the right text",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      let text = "0123456789\n".repeat(20_000);
      const block = script.create({ text });
      script.promote(block);
      let at = 17;
      for (let i = 0; i < 400; i++) {
        at = (at * 48_271 + 11) % text.length;
        const splice = { at, del: text.slice(at, at + (i % 5)), ins: i % 3 === 0 ? "" : `<${i}>` };
        script.splice(block, "ada", [splice], new Uint8Array([i % 256]));
        text = spliced(text, splice);
        if (i % 50 === 0) await script.commit(store);
      }
      await script.commit(store);
      same(await store.text(block), text, "text");
      same(await (await reopen()).text(block), text, "text after reopening");
    },
  },
  {
    title: "[S9] a compaction takes the place of the ops up to its version and changes nothing else",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const block = script.create({ text: "a" });
      const promote = script.promote(block);
      const first = script.splice(block, "ada", [{ at: 1, del: "", ins: "b" }], new Uint8Array([1]));
      const second = script.splice(block, "bob", [{ at: 0, del: "a", ins: "c" }], new Uint8Array([2]));
      await script.commit(store);
      const record = script.block(block);
      const state = Uint8Array.from([1, 2, 3]);
      const compacted = {
        ...{ version: first.version, text: "ab", state },
        ...{ anchors: { ada: "YW4=" }, editors: ["ada"] },
      };
      const kept = structured(compacted);
      await store.compact(block, compacted);
      state.fill(0);
      await store.compact(block, { version: promote.version, text: "a", anchors: {} }); // late: it is ignored
      for (const opened of [store, await reopen()]) {
        same(await opened.log(block, { version: 0 }), { compacted: kept, ops: [second] }, "the whole log");
        same(
          await opened.log(block, { seq: first.seq - 1 }),
          { compacted: kept, ops: [second] },
          "from before the compaction",
        );
        same(await opened.log(block, { version: first.version }), { ops: [second] }, "after the compaction");
        same(
          await opened.log(block, { seq: first.seq }),
          { ops: [second] },
          "after the compaction, by number",
        );
        same(await opened.text(block), "cb", "text");
        same(await opened.block(block), record, "block");
      }
    },
  },
  {
    title: "[S9] a compacted block goes on, and can be compacted again and entirely",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const block = script.create({ text: "" });
      for (let i = 0; i < 40; i++) script.append(block, `${i} `, 2);
      await script.commit(store);
      const text = await store.text(block);
      await store.compact(block, { version: 20, text: text.slice(0, text.indexOf("19 ")), anchors: {} });
      same(await store.text(block), text, "text, compacted inside a run");
      const { version } = script.block(block);
      await store.compact(block, { version, text, anchors: {} });
      same(await store.text(block), text, "text, compacted entirely");
      const last = script.append(block, "end");
      await script.commit(store);
      for (const opened of [store, await reopen()]) {
        same(
          await opened.log(block, { version: 0 }),
          { compacted: { version, text, anchors: {} }, ops: [last] },
          "log",
        );
        same(await opened.text(block), `${text}end`, "text");
      }
    },
  },
  {
    title: "[S10] a turn that is committed again replaces itself and keeps its place",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const ended: Turn = { ...someTurn("t1"), status: "done", endedAt: 5, costUsd: 0.25 };
      for (const turn of [someTurn("t1"), someTurn("t2"), ended]) script.turn(turn);
      await script.commit(store);
      script.turn(someTurn("t3"));
      await script.commit(store);
      const expected = [ended, someTurn("t2"), someTurn("t3")];
      same(await store.turns("c"), expected, "turns");
      same(await (await reopen()).turns("c"), expected, "turns after reopening");
      same(await store.turns("nowhere"), [], "turns of nothing");
    },
  },
  {
    title: "[S11] answers are kept per conversation, the newest win, and their number is bounded",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const count = limits.keysPerConversation + 10;
      for (let i = 0; i < count; i++) {
        script.answer(`k${i}`, i);
        if (i % 500 === 0) await script.commit(store);
      }
      script.answer("k20", "again");
      script.create();
      await script.commit(store);
      same(await store.answer("c", "k20"), "again", "given twice");
      const opened = await reopen();
      same(await opened.answer("c", "k20"), "again", "given twice, reopened");
      same(await opened.answer("c", `k${count - 1}`), count - 1, "the newest");
      same(await opened.answer("c", "k11"), 11, "the oldest that is kept");
      same(await opened.answer("c", "k0"), undefined, "the oldest");
      same(await opened.answer("other", "k20"), undefined, "in another conversation");
    },
  },
  {
    title: "[S12] blocks are found by every filter, oldest or newest first, up to the limit",
    async run({ store, reopen }) {
      const scripts = await someBlocks(store);
      for (const opened of [store, await reopen()]) await findsBlocks(opened, scripts);
    },
  },
  {
    title: "[S12] a query sees the newest record, whatever was stored before",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const block = script.create({ status: "running", metadata: { path: "a.ts" }, kind: "file" });
      await script.commit(store);
      const opened = await reopen();
      const { seq } = script.status(block, "done");
      script.meta(block, { path: "b.ts" });
      await script.commit(opened);
      const find = async (query: Partial<BlockQuery>) =>
        (await opened.blocks({ order: "first", limit: 10, ...query })).map(({ id }) => id);
      same(await find({ status: "running" }), [], "running");
      same(await find({ status: "done", conversation: "c" }), [block], "done");
      same(await find({ pathPrefix: "a" }), [], "old path");
      same(await find({ pathPrefix: "b" }), [block], "new path");
      same(await find({ conversation: "c", changedSince: seq }), [block], "changed");
    },
  },
  {
    title: "[S13] conversations come newest first, filtered by age and title",
    async run({ store, reopen }) {
      for (let i = 0; i < 12; i++) {
        const script = new StoreScript(`c${i}`);
        script.now = 1_000 + ((i * 5) % 12) * 10;
        script.title(i % 2 === 0 ? `Even ${i}` : `odd ${i}`);
        script.now = 1_000 + ((i * 5) % 12) * 10;
        await script.commit(store);
      }
      for (const opened of [store, await reopen()]) {
        const all = await opened.conversations({ limit: 100 });
        same(
          all.map((c) => c.updatedAt),
          all.map((c) => c.updatedAt).sort((a, b) => b - a),
          "order",
        );
        same(all.length, 12, "all");
        const { updatedAt } = all[3] as { updatedAt: number };
        same(await opened.conversations({ limit: 2, before: updatedAt }), all.slice(4, 6), "before");
        const even = all.filter((c) => c.title.startsWith("Even"));
        same(await opened.conversations({ limit: 3, title: "eVEN" }), even.slice(0, 3), "title");
      }
    },
  },
  {
    title: "[S40] where conversations stand is answered for many at once, where it is",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      script.title("one");
      await script.commit(store);
      script.create();
      script.create();
      await script.commit(store);
      for (const opened of [store, await reopen()]) {
        if (!opened.seqs) continue;
        same([...(await opened.seqs(["nowhere", "c"]))], [["c", 3]], "seqs");
        same([...(await opened.seqs([]))], [], "of none");
      }
    },
  },
  {
    title: "[S41] nodes are alive as long as their leases, and dead until they are taken out",
    async run({ store: { nodes } }) {
      if (!nodes) return;
      const sorted = async (node: string, leaseMs: number) => {
        const { alive, dead } = await nodes.beat(node, leaseMs);
        return [[...alive].sort(), [...dead].sort()];
      };
      same(await sorted("a", 60_000), [["a"], []], "the first");
      same(await sorted("b", 60_000), [["a", "b"], []], "another");
      await nodes.beat("a", 0);
      same(await sorted("b", 60_000), [["b"], ["a"]], "a lease that has ended");
      same(await sorted("a", 60_000), [["a", "b"], []], "alive again");
      await nodes.beat("a", 0);
      await nodes.remove("a");
      await nodes.remove("nobody");
      same(await sorted("b", 60_000), [["b"], []], "taken out");
    },
  },
  {
    title: "[S14] every character comes back: emoji, separators, combining marks, right-to-left, CRLF",
    async run({ store, reopen }) {
      const texts = [
        "",
        "\n",
        "no final newline",
        "crlf\r\nline\r",
        "👩‍👩‍👧‍👦 family, 🇩🇪 flag, e\u0301 combining",
        "line\u2028separator\u2029paragraph\u0085next",
        "עברית و عربي",
        "\ufeffBOM \ufffd \uffff \u{10ffff}",
        "tab\tbell\u0007 escape\u001b[31m",
      ];
      const script = new StoreScript("c");
      const blocks = texts.map((text) =>
        script.create({ text, metadata: { label: text, extra: { [text]: text } } }),
      );
      for (const [i, block] of blocks.entries()) {
        for (const char of texts[i] as string) script.append(block, char, 2);
      }
      script.title(texts.join());
      await script.commit(store);
      for (const opened of [store, await reopen()]) {
        for (const [i, block] of blocks.entries()) {
          same(await opened.text(block), `${texts[i]}${texts[i]}`, `text ${i}`);
          same(await opened.block(block), script.block(block), `block ${i}`);
        }
        await readsBack(opened, script);
      }
    },
  },
  {
    title:
      "[S15] half a character never reaches the store: such a commit is refused as a bug and writes nothing",
    async run({ store }) {
      for (const half of ["\ud83d", "a\udc4db", "\udc4d"]) {
        const script = new StoreScript("c");
        script.create({ text: half });
        await fails(() => script.commit(store), "half a character in a create");
      }
      const script = new StoreScript("c");
      const block = script.create({ text: "ok" });
      await script.commit(store);
      script.append(block, "x\ud800");
      await fails(() => script.commit(store), "half a character in an append");
      same(await store.text(block), "ok", "text");
    },
  },
  {
    title: "[S16] a block of 10 MB goes in whole and in pieces, and comes back",
    async run({ store, reopen }) {
      const script = new StoreScript("c");
      const line = "A line of an ordinary length, with a number at its end: ";
      const text = Array.from({ length: 170_000 }, (_, i) => `${line}${i}\n`).join("");
      ok(text.length > 10_000_000, "10 MB");
      const whole = script.create({ text });
      const pieces = script.create();
      await script.commit(store);
      for (let at = 0; at < text.length; at += 250_000) {
        script.append(pieces, text.slice(at, at + 250_000), 2);
        await script.commit(store);
      }
      for (const opened of [store, await reopen()]) {
        ok((await opened.text(whole)) === text, "the whole text");
        ok((await opened.text(pieces)) === text, "the text in pieces");
        same((await opened.block(pieces))?.chars, text.length, "its length");
      }
    },
  },
  {
    title: "[S17] raw bytes come back per run, in order, whatever their cuts",
    async run({ store, reopen }) {
      const runs = ["turn-2", "turn-1"];
      const all = new Map<string, number[]>(runs.map((run) => [run, []]));
      for (let i = 0; i < 200; i++) {
        const run = runs[i % 2] as string;
        const bytes = Uint8Array.from({ length: (i * 37) % 400 }, (_, at) => (at * i) % 256);
        const written = store.appendRaw({ conversation: "c", run }, bytes);
        all.get(run)?.push(...bytes);
        await written;
        bytes.fill(0);
      }
      for (const opened of [store, await reopen()]) {
        same(await opened.rawRuns("c"), runs, "runs");
        for (const run of runs) {
          same([...(await opened.raw({ conversation: "c", run }))], all.get(run), run);
        }
        same((await opened.raw({ conversation: "c", run: "none" })).length, 0, "no run");
        same(await opened.rawRuns("d"), [], "runs of another conversation");
      }
    },
  },
  {
    title: "[S18] blobs come back by their hash; the first one stays",
    async run({ store, reopen }) {
      const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i * i) % 256);
      const kept = bytes.slice();
      await store.putBlob("h1", "image/png", bytes);
      bytes.fill(0);
      await store.putBlob("h1", "text/plain", new Uint8Array(3));
      await store.putBlob("h2", "image/gif", new Uint8Array());
      for (const opened of [store, await reopen()]) {
        same(await opened.blob("h1"), { mediaType: "image/png", bytes: kept }, "h1");
        (await opened.blob("h1"))?.bytes.fill(1);
        same(
          await opened.blob("h1"),
          { mediaType: "image/png", bytes: kept },
          "h1, after a reader wrote into it",
        );
        same(await opened.blob("h2"), { mediaType: "image/gif", bytes: new Uint8Array() }, "h2");
        same(await opened.blob("h3"), undefined, "h3");
      }
    },
  },
  {
    title: "[AC245] audit entries are kept in order, come back as they went in, and a word is used once",
    async run({ store, reopen }) {
      const entry = (at: number, agent: string, action: string) => ({
        ...{ at, agent, role: "owner", by: "page", action },
        details: { text: "ü\u0000\ud83d\ude00", deep: { list: [1, null, true] } },
      });
      const { audit } = store;
      const ids = [
        await audit.append(entry(5, "ann", "command.run"), "a"),
        await audit.append(entry(7, "ann", "turn.answer")),
        await audit.append(entry(7, "bob", "command.run")),
      ];
      same(await audit.append(entry(9, "eve", "command.run"), "a"), undefined, "a word that was used");
      const [first, second, third] = ids;
      ok(Number(first) < Number(second) && Number(second) < Number(third), "ids grow");
      const racing = await Promise.all(
        Array.from({ length: 8 }, () => audit.append(entry(1, "x", "y"), "race")),
      );
      same(racing.filter((id) => id !== undefined).length, 1, "of those that use a word at once, one does");
      const reopened = await reopen();
      same(await reopened.audit.append(entry(9, "eve", "command.run"), "a"), undefined, "also later");
      for (const { audit: log } of [reopened]) {
        const read = async (query: object) =>
          (await log.read({ order: "first", limit: 10, action: "command.run", ...query })).map(
            ({ id }) => id,
          );
        same(
          await log.read({ order: "first", limit: 1 }),
          [{ ...entry(5, "ann", "command.run"), id: first }],
          "whole",
        );
        same(await read({}), [first, third], "by action");
        same(await read({ order: "last" }), [third, first], "newest first");
        same(await read({ agent: "bob" }), [third], "by agent");
        same(await read({ since: 6 }), [third], "since");
        same(await read({ after: first }), [third], "after");
        same(await read({ before: third }), [first], "before");
        same(await read({ limit: 1 }), [first], "limit");
      }
    },
  },
  {
    title: "[S19] what does not exist is absent, not an error",
    async run({ store }) {
      same(await store.conversation("none"), undefined, "conversation");
      same(await store.block("none/ada/1"), undefined, "block");
      same(await store.block("not an id"), undefined, "no id");
      same(await store.text("none/ada/1"), "", "text");
      same(await store.log("none/ada/1", { version: 0 }), { ops: [] }, "log");
      same(await store.conversationOps("none", 0), [], "ops");
      same(await store.conversations({ limit: 5 }), [], "conversations");
      same(await store.blocks({ order: "last", limit: 5 }), [], "blocks");
      const script = new StoreScript("c");
      const block = script.create({ agent: "ada" });
      await script.commit(store);
      same(await store.block(block.replace("ada", "bob")), undefined, "the same number by another agent");
    },
  },
  {
    title:
      "[S20] a commit that no kernel makes is refused and writes nothing; the ones beside it are not disturbed",
    async run({ store }) {
      const good = new StoreScript("good");
      good.create({ text: "good" });
      const bad = new StoreScript("bad");
      bad.create({ text: "bad" });
      const commit = bad.take();
      const op = commit.ops[0] as Op;
      const broken = [
        { ...commit, ops: [{ ...op, seq: 2, seqFrom: 2 }] },
        { ...commit, ops: [{ ...op, version: 2, versionFrom: 2 }] },
        { ...commit, blocks: [] },
        { ...commit, record: { ...commit.record, seq: 9 } },
        { ...commit, record: { ...commit.record, id: "good" } },
        { ...commit, ops: [{ ...op, conversation: "good" }] },
      ];
      const refused = broken.map((each, i) => fails(() => store.commit(each), `broken commit ${i}`));
      same(await good.commit(store), { type: "committed" }, "the good one");
      await Promise.all(refused);
      same(await store.conversation("bad"), undefined, "nothing of the bad ones");
    },
  },
  {
    title: "[N20] what was missed, asked for in one question, is what is read bit by bit; and so are answers",
    async run({ store, reopen }) {
      if (store.missed === undefined || store.answers === undefined) return;
      const script = new StoreScript("c");
      const text = script.create({ text: "one", status: "running" });
      await script.commit(store);
      const edited = script.create({ text: "two" });
      script.promote(edited);
      script.answer("k1", { n: 1 });
      await script.commit(store);
      script.title("A title");
      script.turn(someTurn("t1"));
      script.append(text, " more", 2);
      script.answer("k2", null);
      await script.commit(store);
      script.append(text, " and more", 2);
      script.splice(edited, "bob", [{ at: 0, del: "", ins: "x" }], new Uint8Array([1, 2]));
      await script.commit(store);
      await store.compact(edited, { version: 2, text: "two", state: new Uint8Array([3]), anchors: {} });
      script.status(text, "done");
      await script.commit(store);
      for (const opened of [store, await reopen()]) {
        for (let since = 0; since <= script.record.seq; since++)
          same(
            await opened.missed?.("c", since),
            await bitByBit(opened, "c", since),
            `missed after ${since}`,
          );
        same(await opened.missed?.("nobody's", 0), undefined, "no conversation");
        const answers = await opened.answers?.("c", ["k1", "k2", "k3", "k".repeat(2_000)]);
        same([...(answers ?? [])].sort(), [["k1", { n: 1 }], ["k2", null]], "answers"); // biome-ignore format: rows
        same(await opened.answers?.("nobody's", ["k1"]), new Map(), "answers of no conversation");
      }
    },
  },
  {
    title: "[N20] of commits that are planned in turn none is too late, and each is told what it missed",
    async run({ store, reopen }) {
      if (store.commitInTurn === undefined) return;
      const script = new StoreScript("c");
      script.create({ text: "one" });
      await script.commit(store);
      const first = script.record;
      const writers = Array.from({ length: 20 }, (_, i) => `w${i}`);
      const answers = await Promise.all(
        writers.map((agent) => store.commitInTurn?.(titleInTurn(first, agent, `of ${agent}`))),
      );
      same(answers, writers.map(() => ({ type: "committed" })), "the answers"); // biome-ignore format: rows
      for (const opened of [store, await reopen()]) {
        const ops = await opened.conversationOps("c", 1);
        same(ops.map(({ seq }) => seq), writers.map((_, i) => i + 2), "the numbers"); // biome-ignore format: rows
        same(ops.map(({ agent }) => agent).sort(), writers.toSorted(), "the writers"); // biome-ignore format: rows
        for (const agent of writers) same(await opened.answer("c", agent), "known to w0", `${agent}'s key`);
      }
      const nothing = { ...titleInTurn(first, "w0", "x"), plan: () => undefined };
      same(await store.commitInTurn?.(nothing), { type: "committed" }, "nothing to commit");
      same((await store.conversation("c"))?.seq, 21, "and nothing is");
    },
  },
];

async function someBlocks(store: Store): Promise<readonly StoreScript[]> {
  const a = new StoreScript("conv-a");
  const b = new StoreScript("conv-b");
  b.now += 500;
  let parent: BlockId | null = null;
  for (let i = 0; i < 60; i++) {
    const script = i % 4 === 3 ? b : a;
    const kind = (["text", "file", "code"] as const)[i % 3] as "text" | "file" | "code";
    const path = { path: `${i % 2 === 0 ? "src" : "src-b"}/f${i}%_é.ts` };
    const status = (["pending", "running", "done"] as const)[i % 5 === 0 ? 0 : (i % 2) + 1] as "pending";
    const id = script.create({ kind, status, parent, metadata: kind === "file" ? path : {} });
    if (i % 10 === 0) parent = id;
    if (i % 6 === 0) await script.commit(store);
  }
  const first = [...a.blocks.keys()][2] as BlockId;
  a.append(first, "late");
  await a.commit(store);
  await b.commit(store);
  return [a, b];
}

async function findsBlocks(store: Store, scripts: readonly StoreScript[]): Promise<void> {
  const all = scripts.flatMap((script) => [...script.blocks.values()]);
  const parent = all.find((block) => block.parent !== null)?.parent as BlockId;
  const inA: Partial<BlockQuery> = { conversation: "conv-a" };
  const queries: readonly [Partial<BlockQuery>, (block: (typeof all)[number]) => boolean][] = [
    [{}, () => true],
    [inA, (block) => block.conversation === "conv-a"],
    [{ parent }, (block) => block.parent === parent],
    [{ ...inA, parent }, (block) => block.parent === parent && block.conversation === "conv-a"],
    [
      { conversation: "conv-b", parent },
      (block) => block.parent === parent && block.conversation === "conv-b",
    ],
    [{ kinds: ["file"] }, (block) => block.kind === "file"],
    [
      { kinds: ["text", "code"], ...inA },
      (block) => block.kind !== "file" && block.conversation === "conv-a",
    ],
    [{ kinds: [] }, () => false],
    [{ status: "running" }, (block) => block.status === "running"],
    [{ status: "done", ...inA }, (block) => block.status === "done" && block.conversation === "conv-a"],
    [{ pathPrefix: "src/" }, (block) => `${block.metadata.path}`.startsWith("src/")],
    [{ pathPrefix: "src/f6%_é" }, (block) => `${block.metadata.path}`.startsWith("src/f6%_é")],
    [{ pathPrefix: "" }, (block) => block.metadata.path !== undefined],
    [{ ...inA, changedSince: 40 }, (block) => block.conversation === "conv-a" && block.seq > 40],
    [{ ...inA, before: 20 }, (block) => block.conversation === "conv-a" && block.born < 20],
    [{ ...inA, after: 20 }, (block) => block.conversation === "conv-a" && block.born > 20],
    [
      { ...inA, after: 5, before: 30, kinds: ["file"], pathPrefix: "src-b" },
      (block) =>
        block.conversation === "conv-a" &&
        block.born > 5 &&
        block.born < 30 &&
        `${block.metadata.path}`.startsWith("src-b"),
    ],
    [{ conversation: "none" }, () => false],
  ];
  for (const [query, fits] of queries) {
    const expected = all.filter(fits).sort((a, b) => a.createdAt - b.createdAt);
    for (const limit of [1_000, 7, 1]) {
      const what = `${JSON.stringify(query)} limit ${limit}`;
      same(await store.blocks({ ...query, order: "first", limit }), expected.slice(0, limit), what);
      same(
        await store.blocks({ ...query, order: "last", limit }),
        expected.toReversed().slice(0, limit),
        what,
      );
    }
  }
}

function someTurn(id: string): Turn {
  return { id, provider: "p", agent: "model", status: "running", startedAt: 1, native: { a: [1] } };
}

/** Everything of the script's conversation is in the store as the script has it. */
async function readsBack(store: Store, script: StoreScript): Promise<void> {
  same(await store.conversation(script.id), script.record, "record");
  for (const block of script.blocks.values()) {
    same(await store.block(block.id), block, "block");
    const { compacted, ops } = await store.log(block.id, { version: 0 });
    let text = compacted?.text ?? "";
    for (const op of ops) for (const splice of splicesOf(op)) text = spliced(text, splice);
    same(await store.text(block.id), text, "text and ops agree");
    same(text.length, block.chars, "length of the text");
  }
}

/** The same ops, where consecutive appends of one undo step may have been merged. */
function sameRuns(ops: readonly Op[], expected: readonly Op[]): void {
  let at = 0;
  for (const op of ops) {
    const parts = expected.slice(at, at + op.version - op.versionFrom + 1);
    const [first, last] = [parts[0] as Op, parts.at(-1) as Op];
    at += parts.length;
    if (parts.length === 1) {
      same(op, first, `op ${op.version}`);
      continue;
    }
    ok(
      parts.every(({ unit, agent }) => unit === op.unit && agent === op.agent),
      "a run is of one unit",
    );
    same([op.versionFrom, op.version], [first.version, last.version], "versions of the run");
    same([op.seqFrom, op.seq], [first.seq, last.seq], "numbers of the run");
    same(op.at, last.at, "time of the run");
    const from = first.body.type === "append" ? first.body.at : -1;
    const text = parts.map(({ body }) => (body.type === "append" ? body.text : "?")).join("");
    same(op.body, { type: "append", at: from, text }, "text of the run");
  }
  same(at, expected.length, "number of ops");
}

/** The log has the wanted ops, perhaps in runs that begin earlier, and nothing that ended before them. */
function covers({ ops }: BlockLog, wanted: readonly Op[]): void {
  const first = wanted[0];
  if (first === undefined) {
    same(ops, [], "nothing");
    return;
  }
  ok((ops[0] as Op).versionFrom <= first.version && (ops[0] as Op).version >= first.version, "the first op");
  same(ops.at(-1)?.version, wanted.at(-1)?.version, "the last op");
  for (const [i, op] of ops.entries()) {
    if (i > 0) same(op.versionFrom, (ops[i - 1] as Op).version + 1, "no gap");
  }
}

function structured<T>(value: T): T {
  if (value instanceof Uint8Array) return value.slice() as T;
  if (Array.isArray(value)) return value.map(structured) as T;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, structured(item)])) as T;
}

/** The same, as read from a store that has no single query for it. */
async function bitByBit(store: Store, conversation: string, since: number): Promise<Missed | undefined> {
  const get = (of: Store, name: keyof Store) => {
    const value = name === "missed" ? undefined : of[name];
    return typeof value === "function" ? value.bind(of) : value;
  };
  const missed = await readMissed(new Proxy(store, { get } as ProxyHandler<Store>), conversation, since);
  if (missed === undefined) return undefined;
  const hasOwn = missed.ops.some(({ block }) => block === null);
  return { ...missed, turns: hasOwn ? missed.turns : [] };
}

/** Plans a title from what it missed, and an answer to its own key that says whether it found the first one's. */
function titleInTurn(known: Conversation, agent: string, title: string): TurnedCommit {
  const { id: conversation } = known;
  return {
    conversation,
    since: () => known.seq,
    keys: () => ["w0"],
    moreKeys: () => ["w1"],
    plan: (missed, answers) => {
      const before = missed?.record ?? known;
      same(missed?.ops.length ?? 0, before.seq - known.seq, `what ${agent} missed`);
      const isKnown = before.seq === known.seq || answers.get("w0") !== undefined || agent === "w0";
      const seq = before.seq + 1;
      const op: Op = {
        ...{ conversation, seq, seqFrom: seq, block: null, version: 0, versionFrom: 0 },
        ...{ agent, unit: 0, at: seq, body: { type: "conversation", patch: { title } } },
      };
      const record = { ...before, title, seq, updatedAt: seq };
      const answer = isKnown ? "known to w0" : "not known";
      const parts = { ops: [op], blocks: [], turns: [], answers: [{ key: agent, answer }] };
      return { conversation, expectedSeq: before.seq, record, ...parts };
    },
  };
}

async function fails(run: () => Promise<unknown>, what: string): Promise<void> {
  let failed = false;
  await run().catch(() => {
    failed = true;
  });
  ok(failed, `${what} must be refused`);
}

function ok(condition: boolean, what: string): void {
  if (!condition) throw new Error(`the store breaks its contract: ${what}`);
}

function same(actual: unknown, expected: unknown, what: string): void {
  if (equal(actual, expected)) return;
  throw new Error(`the store breaks its contract: ${what}: ${show(actual)} instead of ${show(expected)}`);
}

function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (a instanceof Uint8Array !== b instanceof Uint8Array || Array.isArray(a) !== Array.isArray(b))
    return false;
  const left = a as Record<string, unknown>;
  const right = b as Record<string, unknown>;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => key in right && equal(left[key], right[key]))
  );
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > 600 ? `${text.slice(0, 600)}…` : text;
}
