/**
 * A command's way to a database that no server has: the store opened under its lock, with the tools of the owner. Not loaded by
 * a command that a server answers: this is most of the program.
 */

import { join } from "node:path";
import { exportLines, Kernel, type Store, StoreError, typedCalls } from "@blockyard/kernel";
import { Auth, type Caller, ownerName } from "../access/auth.ts";
import { Tools } from "../app/tool-table.ts";
import { type Config, prepareHome } from "../config/config.ts";
import { rawRuns } from "../export/export-file.ts";
import { auditedImport } from "../import/import-stream.ts";
import { ingestStream } from "../ingest/ingest-stream.ts";
import { redactBody } from "../ingest/redact-body.ts";
import { openNamed } from "../stores/postgres/named.ts";
import { hasDatabase } from "../stores/sqlite/restored.ts";
import { openSqliteStore } from "../stores/sqlite/sqlite.ts";
import { nodeEnv } from "../system/env.ts";
import { type BlockSource, known } from "./block-source.ts";
import { CommandError, EXIT } from "./command.ts";
import { storeSentence } from "./failure.ts";

/** The blocks of this database, opened here. Undefined while another process has it. */
export async function localClient(
  config: Config,
  { create }: { readonly create: boolean },
): Promise<BlockSource | undefined> {
  const store = await (config.database ? openNamed(config.database) : openStore(config.home, create));
  return store && clientOf(config, store);
}

/** Undefined while another process has it. */
async function openStore(home: string, create: boolean): Promise<Store | undefined> {
  const path = join(home, "blockyard.db");
  if (!create && !hasDatabase(path)) {
    const fix =
      "Start the server (blockyard), import saved sessions (blockyard import), or choose another directory with --home";
    throw new CommandError(`there are no conversations in ${home} yet. ${fix}.`, EXIT.nothing);
  }
  prepareHome(home);
  try {
    return await openSqliteStore(path);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.code === "locked") return undefined;
    throw new CommandError(storeSentence(error));
  }
}

function clientOf(config: Config, store: Store): BlockSource {
  const kernel = new Kernel(nodeEnv, store);
  prepareHome(config.home);
  const auth = new Auth(config.home, ownerName(), Date.now);
  const tools = new Tools(kernel, config, () => undefined, auth);
  const owner: Caller = { agent: ownerName(), role: "owner", by: "token" };
  const incoming = (body: AsyncIterable<Uint8Array>) => (config.redactIngest ? redactBody(body) : body);
  return {
    call: typedCalls((tool, input) => tools.call(owner, tool, input)),
    async *lines(conversation) {
      yield* exportLines(kernel, known(await kernel.conversation(conversation)));
    },
    async *raw(conversation) {
      known(await kernel.conversation(conversation));
      yield* rawRuns(store, conversation);
    },
    ingest: (query, body) => ingestStream(kernel, owner, query, incoming(body), tools.secrets),
    import: (body) => auditedImport(tools.audit, kernel, owner, incoming(body)),
    async close() {
      await tools.close();
      await tools.files.close();
      await kernel.close();
      await store.close();
    },
  };
}
