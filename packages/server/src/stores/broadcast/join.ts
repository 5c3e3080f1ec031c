/**
 * How a server becomes one of several nodes. If its store can be shared, it joins the others, over NATS if a broker is
 * configured. Otherwise it is alone and closes what its last process left open.
 */

import { join } from "node:path";
import { closeOrphans, type Kernel, Leases, LocalBroadcast, Nodes, StoreError } from "@blockyard/kernel";
import { type Config, ConfigError } from "../../config/config.ts";
import type { Log } from "../../system/log.ts";
import { holdLock, type Lock } from "../sqlite/lock.ts";

/** Under which name the server closes what was left open. */
const AGENT = "blockyard";

interface Joined {
  readonly nodes: Nodes | undefined;
  /** Leaves: everything that this node ran has ended. */
  leave(): Promise<void>;
}

export async function joinNodes(
  kernel: Kernel,
  { home, nats, natsSecret }: Pick<Config, "home" | "nats" | "natsSecret">,
  log: Log,
): Promise<Joined> {
  if (!kernel.isShared) {
    if (nats !== undefined)
      throw new ConfigError("--nats works only for servers that share a database: add --database");
    const closed = await closeOrphans(kernel, AGENT);
    if (closed.blocks + closed.turns > 0)
      log("info", "closed blocks that an earlier run left open", { ...closed });
    return { nodes: undefined, leave: async () => undefined };
  }
  const lock = lockHome(home);
  const broadcast =
    nats === undefined
      ? new LocalBroadcast().join()
      : (await import("./nats.ts")).natsBroadcast(nats, kernel.store.epoch, log, natsSecret);
  const nodes = new Nodes({
    kernel,
    broadcast,
    agent: AGENT,
    onClosed: (closed, node) =>
      log("warn", "a node died; closed the blocks it left open", { node, ...closed }),
  });
  const leave = async () => {
    try {
      await nodes.close();
    } finally {
      await broadcast.close().finally(() => lock.release());
    }
  };
  try {
    const closed = await nodes.start();
    log("info", "joined the nodes of this database", { node: nodes.id, ...closed });
    return { nodes, leave };
  } catch (error) {
    await leave();
    throw error;
  }
}

/** What agents hold open with programs of their own is looked after from now on. */
export async function startLeases(kernel: Kernel, nodes: Nodes | undefined, log: Log): Promise<Leases> {
  const leases = new Leases({
    kernel,
    agent: AGENT,
    onClosed: (closed, agents) =>
      log("info", "closed blocks of agents that are gone", { ...closed, agents: agents.join(", ") }),
  });
  await leases.start();
  if (nodes) nodes.onLeft = () => void leases.look().catch(() => undefined); // a store that is away: the next one looks
  return leases;
}

/** A start ends what agents of its home folder left running: two nodes with one home would end each other's. */
function lockHome(home: string): Lock {
  try {
    return holdLock(join(home, "node"));
  } catch (error) {
    if (!(error instanceof StoreError) || error.code !== "locked") throw error;
    throw new ConfigError(`a server is already running for ${home}; use a separate --home for each node`);
  }
}
