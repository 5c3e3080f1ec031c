/**
 * A command's way to a database that no server has: the store opened under its lock, with the tools of the owner. Not loaded by
 * a command that a server answers; and what runs agents, reads streams or knows files, only by a call that needs it.
 */

import { join } from "node:path";
import type { Store } from "@blockyard/kernel";
import { StoreError, typedCalls } from "@blockyard/kernel/plain";
import { exportLines, Kernel } from "@blockyard/kernel/tools";
import { Audit } from "../access/audit.ts";
import { Auth, type Caller, ownerName } from "../access/auth.ts";
import type { Tools } from "../app/tool-table.ts";
import { type Config, prepareHome } from "../config/config.ts";
import { rawRuns } from "../export/raw-runs.ts";
import { redactBody } from "../ingest/redact-body.ts";
import { openNamed } from "../stores/postgres/named.ts";
import { hasDatabase } from "../stores/sqlite/restored.ts";
import { openSqliteStore } from "../stores/sqlite/sqlite.ts";
import { nodeEnv } from "../system/env.ts";
import { type BlockSource, known } from "./block-source.ts";
import { CommandError, EXIT } from "./command.ts";
import { CoreCalls } from "./core-calls.ts";
import { storeSentence } from "./failure.ts";

/** The blocks of this database, opened here. Undefined while another process has it. */
export async function localClient(
  config: Config,
  { create, agents }: { readonly create: boolean; readonly agents: boolean },
): Promise<BlockSource | undefined> {
  const store = await (config.database ? openNamed(config.database) : openStore(config.home, create));
  if (!store) return undefined;
  const kernel = new Kernel(nodeEnv, store);
  // Nobody else has the database, so nothing that it calls running runs. A start of the server does the same.
  if (agents && !kernel.isShared) {
    const { closeOrphans } = await import("@blockyard/kernel");
    await closeOrphans(kernel, "blockyard");
  }
  return clientOf(config, store, kernel);
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

function clientOf(config: Config, store: Store, kernel: Kernel): BlockSource {
  prepareHome(config.home);
  const owner: Caller = { agent: ownerName(), role: "owner", by: "token" };
  const core = new CoreCalls(kernel, owner.agent);
  const incoming = (body: AsyncIterable<Uint8Array>) => (config.redactIngest ? redactBody(body) : body);
  let whole: Promise<Tools> | undefined;
  const tools = () => {
    whole ??= wholeTable(kernel, config);
    return whole;
  };
  return {
    call: typedCalls(async (tool, input) =>
      core.has(tool) ? core.call(tool, input) : (await tools()).call(owner, tool, input),
    ),
    async *lines(conversation) {
      yield* exportLines(kernel, known(await kernel.conversation(conversation)));
    },
    async *raw(conversation) {
      known(await kernel.conversation(conversation));
      yield* rawRuns(store, conversation);
    },
    async ingest(query, body) {
      const { ingestStream } = await import("../ingest/ingest-stream.ts");
      const { Secrets } = await import("../ingest/secrets.ts");
      const secrets = config.redactIngest ? new Secrets() : undefined;
      return ingestStream(kernel, owner, query, incoming(body), secrets);
    },
    async import(body) {
      const { auditedImport } = await import("../import/import-stream.ts");
      return auditedImport(new Audit(store.audit, () => undefined), kernel, owner, incoming(body));
    },
    async close() {
      const made = await whole;
      await made?.close();
      await made?.files.close();
      core.close();
      await kernel.close();
      await store.close();
    },
  };
}

/** Agents, files, rules and tokens as well: for more than blocks. */
async function wholeTable(kernel: Kernel, config: Config): Promise<Tools> {
  const { Tools } = await import("../app/tool-table.ts");
  return new Tools(kernel, config, () => undefined, new Auth(config.home, ownerName(), Date.now));
}
