/** What is checked before a database is used, what is refused, and what is never shown. */
import { isProblem, Kernel } from "@blockyard/kernel";
import { StoreScript } from "@blockyard/kernel/store-contract";
import { openPostgresStore } from "../../packages/server/src/stores/postgres/postgres.ts";
import { SCHEMA_VERSION } from "../../packages/server/src/stores/postgres/schema.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { require } from "../checks.ts";
import type { StoreCheck } from "./check.ts";
import { databaseIn } from "./server.ts";

/** Why it was refused. */
async function refused(url: string): Promise<{ readonly code: string; readonly message: string }> {
  try {
    await (await openPostgresStore(url)).close();
  } catch (error) {
    const { code, message, stack, cause } = error as { code: string } & Error;
    const all = `${message}${stack}${String(cause)}${JSON.stringify(error)}`;
    for (const secret of [new URL(url).password, decodeURIComponent(new URL(url).password)])
      require(!all.includes(secret), "the password is in the error");
    return { code, message };
  }
  throw new Error("it was opened");
}

export const openingChecks: readonly StoreCheck[] = [
  {
    title: "[S31] a database whose commits are not durable is refused, with what to do about it",
    async run(server) {
      const url = await server.newDatabase();
      const name = databaseIn(url);
      await server.run(`ALTER DATABASE ${name} SET synchronous_commit = off`);
      const { code, message } = await refused(url);
      require(code === "io" && message.includes("SET synchronous_commit = on"), message);
      await server.run(`ALTER DATABASE ${name} SET synchronous_commit = on`);
      await (await openPostgresStore(url)).close();
      return undefined;
    },
  },
  {
    title:
      "[S32] a newer schema, another program's schema and another encoding are refused and left as they are",
    async run(server) {
      const newer = await server.newDatabase();
      await (await openPostgresStore(newer)).close();
      const next = SCHEMA_VERSION + 1;
      await server.run(`UPDATE blockyard.meta SET value = '${next}' WHERE key = 'schema'`, databaseIn(newer));
      const found = await refused(newer);
      require(found.code === "version" && found.message.includes(`version ${next}`), found.message);
      const other = await server.newDatabase();
      await server.run("CREATE SCHEMA blockyard", databaseIn(other));
      await server.run("CREATE TABLE blockyard.theirs (id int)", databaseIn(other));
      require((await refused(other)).code === "version", "another program's");
      const latin = await server.newDatabase("ENCODING 'LATIN1' TEMPLATE template0");
      require((await refused(latin)).message.includes("ENCODING 'UTF8'"), "another encoding");
      return undefined;
    },
  },
  {
    title:
      "[AC245] a database of before gets the audit log, in which no statement changes or removes an entry",
    async run(server) {
      const address = await server.newDatabase();
      const name = databaseIn(address);
      await (await openPostgresStore(address)).close();
      await server.run("DROP TABLE blockyard.audit", name);
      await server.run("DROP FUNCTION blockyard.refuse_change", name);
      await server.run("DROP TABLE blockyard.deletion", name);
      await server.run("ALTER TABLE blockyard.blob DROP COLUMN put_at", name);
      await server.run("UPDATE blockyard.meta SET value = '1' WHERE key = 'schema'", name);
      const store = await openPostgresStore(address);
      const entry = { at: 1, agent: "ann", role: "owner", by: "page", action: "command.run", details: {} };
      await store.audit.append(entry);
      for (const statement of [
        "DELETE FROM blockyard.audit",
        "UPDATE blockyard.audit SET agent = 'bob'",
        "TRUNCATE blockyard.audit",
      ]) {
        const refusal = await server.run(statement, name).then(
          () => "done",
          (error: Error) => error.message,
        );
        require(refusal.includes("only added to"), `${statement}: ${refusal}`);
      }
      const kept = await store.audit.read({ order: "first", limit: 5 });
      await store.close();
      require(kept.length === 1 && kept[0]?.agent === "ann", JSON.stringify(kept));
      return undefined;
    },
  },
  {
    title: "[S31] a wrong password, a missing database and no server are told, without the password",
    async run(server) {
      const url = await server.newDatabase();
      const wrong = new URL(url);
      wrong.password = "wrong-secret";
      require((await refused(wrong.href)).code === "io", "a wrong password");
      const missing = new URL(url);
      missing.pathname = "/nowhere";
      require((await refused(missing.href)).message.includes("nowhere"), "a missing database");
      const dead = new URL(url);
      dead.port = "1";
      require((await refused(dead.href)).code === "io", "no server");
      return undefined;
    },
  },
  {
    title: "[S32] eight nodes that open a new database at once make its tables once",
    async run(server) {
      const url = await server.newDatabase();
      const stores = await Promise.all(Array.from({ length: 8 }, () => openPostgresStore(url)));
      require(new Set(stores.map(({ epoch }) => epoch)).size === 1, "they have several epochs");
      await Promise.all(stores.map((store) => store.close()));
      return undefined;
    },
  },
  {
    title: "[S32] a user who owns the database and nothing else is enough",
    async run(server) {
      await server.run("CREATE ROLE plain LOGIN PASSWORD 'plain-secret'");
      const url = new URL(await server.newDatabase("OWNER plain"));
      url.username = "plain";
      url.password = "plain-secret";
      const store = await openPostgresStore(url.href);
      const script = new StoreScript("c");
      script.create({ text: "a" });
      require((await script.commit(store)).type === "committed", "a commit");
      await store.close();
      return undefined;
    },
  },
  {
    title:
      "[S4] a database that was put back elsewhere has another epoch; a node that was running stops using it",
    async run(server) {
      const url = await server.newDatabase();
      const store = await openPostgresStore(url);
      const script = new StoreScript("c");
      script.create({ text: "a" });
      await script.commit(store);
      const copy = await server.newDatabase(`TEMPLATE template0`);
      await store.close();
      await server.run(`DROP DATABASE ${databaseIn(copy)}`);
      await server.run(`CREATE DATABASE ${databaseIn(copy)} TEMPLATE ${databaseIn(url)}`);
      const restored = await openPostgresStore(copy);
      require(restored.epoch !== store.epoch, "the epoch is the same");
      require((await restored.conversation("c"))?.seq === 1, "the conversation is gone");
      await restored.close();
      // As pg_restore does it in the same database: the tables are made anew.
      for (const text of [
        "CREATE TABLE blockyard.kept AS SELECT * FROM blockyard.meta",
        "DROP TABLE blockyard.meta",
        "ALTER TABLE blockyard.kept RENAME TO meta",
        "ALTER TABLE blockyard.meta ADD PRIMARY KEY (key)",
      ])
        await server.run(text, databaseIn(copy));
      const again = await openPostgresStore(copy);
      require(again.epoch !== restored.epoch, "the epoch is that of before the restore");
      // As if it were restored once more, under the running node.
      await server.run(`UPDATE blockyard.meta SET value = 'other' WHERE key = 'epoch'`, databaseIn(copy));
      await server.run(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${databaseIn(copy)}'`,
      );
      const error = await again.conversation("c").catch((thrown: unknown) => thrown);
      require(error instanceof Error && error.message.includes("Restart this server"), String(error));
      await again.close();
      return undefined;
    },
  },
  {
    title: "[R34] [S33] names and texts of every kind: the same as in memory, or refused by the kernel",
    async run(server) {
      const url = await server.newDatabase();
      const store = await openPostgresStore(url);
      const odd = ["a\u0000b", "x".repeat(5_000), "\ufeff\u2028\r\n", "é".repeat(300), "", 'a\\x00"{},NULL'];
      const script = new StoreScript("c");
      for (const text of odd) {
        script.create({ kind: "file", text, metadata: { path: text, extra: { [text]: text } } });
        script.answer(text, text);
        script.turn({ id: text, provider: text, agent: "model", status: "done", startedAt: 1 });
        await store.appendRaw({ conversation: "c", run: text }, Buffer.from(text));
        await store.putBlob(text, text, Buffer.from(text));
      }
      await script.commit(store);
      for (const text of odd) {
        require((await store.answer("c", text)) === text, `answer ${text.slice(0, 9)}`);
        const raw = await store.raw({ conversation: "c", run: text });
        require(Buffer.from(raw).toString() === text, `raw ${text.slice(0, 9)}`);
        require((await store.blob(text))?.mediaType === text, `blob ${text.slice(0, 9)}`);
        const found = await store.blocks({ pathPrefix: text, order: "first", limit: 99 });
        const wanted = [...script.blocks.values()].filter((block) =>
          `${block.metadata["path"]}`.startsWith(text),
        );
        require(JSON.stringify(found) === JSON.stringify(wanted), `path ${text.slice(0, 9)}`);
      }
      require((await store.turns("c")).length === odd.length, "turns");
      require((await store.rawRuns("c")).join() === odd.join(), "raw runs");
      for (const block of script.blocks.values())
        require((await store.text(block.id)) === block.metadata["path"], "text");
      for (const name of ["c\u0000", "\u0000"]) {
        require((await store.conversation(name)) === undefined, "a conversation of no name");
        require((await store.turns(name)).length === 0, "turns of no name");
        require((await store.blocks({ conversation: name, order: "last", limit: 1 })).length === 0, "blocks");
        require((await store.blocks({ parent: name, order: "last", limit: 1 })).length === 0, "children");
      }
      const kernel = new Kernel(nodeEnv, store);
      const answer = await kernel.write("k", {
        agent: "ann",
        create: true,
        key: "k\u0000",
        plan: (draft) => draft.create({ kind: "text", role: "user", text: "a\u0000b\ud800" }),
      });
      require(!isProblem(answer), "the kernel takes it");
      const [kept] = await store.blocks({ conversation: "k", order: "first", limit: 1 });
      const text = await store.text(kept?.id ?? "");
      const again = await kernel.whole(kept?.id ?? "");
      require(!isProblem(again) &&
        again.text === text &&
        text.isWellFormed(), "the kernel's text is the store's");
      await kernel.close();
      await store.close();
      return undefined;
    },
  },
];
