/** What a server works on: store, kernel, leases, tools, joined and started. No transport is known here. */

import { join } from "node:path";
import { type Env, Kernel, type Leases, type Nodes, type Store, StoreError } from "@blockyard/kernel";
import { Auth, ownerName } from "../access/auth.ts";
import { Revocations } from "../access/revocations.ts";
import { type Config, ConfigError, prepareHome } from "../config/config.ts";
import { joinNodes, startLeases } from "../stores/broadcast/join.ts";
import { openNamed } from "../stores/postgres/named.ts";
import { openSqliteStore } from "../stores/sqlite/sqlite.ts";
import { readAddress, type ServerAddress } from "../system/address-file.ts";
import type { Log } from "../system/log.ts";
import { isAlive } from "../system/process-alive.ts";
import type { Shutdown } from "./shutdown.ts";
import { Tools } from "./tool-table.ts";

export interface Core {
  readonly auth: Auth;
  readonly store: Store;
  readonly kernel: Kernel;
  /** Where several share the store. */
  readonly nodes: Nodes | undefined;
  readonly leases: Leases;
  readonly tools: Tools;
}

export async function openCore(config: Config, log: Log, env: Env, shutdown: Shutdown): Promise<Core> {
  prepareHome(config.home);
  const auth = new Auth(config.home, ownerName(), () => env.monotonic());
  auth.onFault = (message) => log("error", "the agents' tokens cannot be read", { message });
  const store = await openStore(config, auth);
  shutdown.register("store", () => store.close());
  const kernel = new Kernel(env, store);
  shutdown.register("kernel", () => kernel.close());
  // Deletions are loaded before the first call, so that none waits for them. If the store is unavailable, the
  // calls ask it again.
  await kernel.deletions.ready().catch(() => undefined);
  const { nodes, leave } = await joinNodes(kernel, config, log);
  shutdown.register("nodes", leave);
  const leases = await startLeases(kernel, nodes, log);
  shutdown.register("leases", () => leases.close());
  const revocations = await shareRevocations(store, auth);
  shutdown.register("revocations", () => revocations?.close());
  const tools = new Tools(kernel, config, log, auth);
  shutdown.register("tools", () => tools.close());
  shutdown.register("files", () => tools.files.close());
  nodes?.shareCursors(tools.presence);
  await tools.files.start();
  return { auth, store, kernel, nodes, leases, tools };
}

/** The link that lets the owner's browser in, once. */
export function linkTo(url: string, auth: Auth): string {
  return `${url}/?link=${auth.makeLink()}`;
}

/** If several nodes share the database, each learns of the others' revocations. */
async function shareRevocations(store: Store, auth: Auth): Promise<Revocations | undefined> {
  if (!store.nodes) return undefined;
  const revocations = new Revocations(store.audit);
  auth.isRevoked = (session) => revocations.has(session);
  await revocations.start();
  return revocations;
}

/** The database: the named one, or the file, unless another server has that open: then that server's. */
async function openStore(config: Config, auth: Auth): Promise<Store> {
  if (config.database) return openNamed(config.database);
  try {
    return await openSqliteStore(join(config.home, "blockyard.db"));
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "locked") throw error;
    throw new ConfigError(inUse(config, readAddress(config.home), auth));
  }
}

/** Starting a second server for a data directory means opening the first one, or serving another folder. */
function inUse({ home, root }: Config, first: ServerAddress | undefined, auth: Auth): string {
  // A killed server leaves its address behind: a command has the database.
  if (first === undefined || !isAlive(first.pid))
    return `another blockyard command is using the database in ${home}. Wait for it to finish or stop it, or choose another --home`;
  const serves = first.root === undefined ? "" : `, serving ${first.root}`;
  const here =
    first.root === root
      ? ""
      : `. To serve ${root} as well, use a second data directory: blockyard ${root} --home ${home}-2`;
  return `a server is already running for ${home}${serves} (process ${first.pid}). Open  ${linkTo(first.url, auth)}${here}`;
}
