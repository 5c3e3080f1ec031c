/**
 * Whether somebody is logged in to the agents of this machine, while no server runs: the same drivers ask the same
 * agents, so that the command and the page say the same.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Env, Kernel, MemoryStore } from "@blockyard/kernel";
import { ProcessTracker } from "../processes/process-tracker.ts";
import type { Driver, Login } from "./driver.ts";
import { claudeDriver } from "./drivers/claude/driver.ts";
import { codexDriver } from "./drivers/codex/driver.ts";
import { LOGIN_MS } from "./limits.ts";

export async function logins(
  env: Readonly<Record<string, string | undefined>>,
  time: Env,
): Promise<ReadonlyMap<string, Login>> {
  // A folder of its own: what a running server has started is none of ours.
  const home = mkdtempSync(join(tmpdir(), "blockyard-login-"));
  const tracker = new ProcessTracker(home);
  const kernel = new Kernel(time, new MemoryStore("logins"));
  const place = { kernel, root: home, home, env, tracker };
  const ask = async (driver: Driver): Promise<readonly [string, Login]> => {
    const { provider } = driver;
    const late = new Promise<Login>((resolve) => time.after(LOGIN_MS, () => resolve({ state: "unknown" })));
    const isThere = driver.check({ conversation: "", provider, prompt: "", cwd: home }) === undefined;
    const said = isThere ? await Promise.race([driver.login?.(home) ?? late, late]) : undefined;
    return [provider, said ?? { state: "unknown" }];
  };
  try {
    return new Map(await Promise.all([claudeDriver(place), codexDriver(place)].map(ask)));
  } finally {
    await tracker.close();
    await kernel.close();
    rmSync(home, { recursive: true, force: true });
  }
}
