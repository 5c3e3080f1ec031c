// Joining the nodes of a database, with a store in memory in its place.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kernel, MemoryNodes, MemoryStore } from "@blockyard/kernel";
import { afterEach, describe, expect, it } from "vitest";
import { nodeEnv } from "../../system/env.ts";
import { joinNodes } from "./join.ts";

const homes: string[] = [];
afterEach(() => {
  for (const home of homes.splice(0)) rmSync(home, { recursive: true, force: true });
});

const noLog = () => undefined;

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), "blockyard-join-"));
  homes.push(home);
  return home;
}

describe("[N13] a server", () => {
  it("is a node only if its store can be shared, and says what is missing for a broker", async () => {
    const alone = new Kernel(nodeEnv, new MemoryStore("e"));
    const { nodes, leave } = await joinNodes(alone, { home: newHome() }, noLog);
    expect(nodes).toBeUndefined();
    expect(alone.node).toBeUndefined();
    await leave();
    const asked = joinNodes(alone, { home: newHome(), nats: "nats://127.0.0.1:9" }, noLog);
    await expect(asked).rejects.toThrow("--database");
  });

  it("has a home folder of its own among nodes, and releases it", async () => {
    const store = new MemoryStore("e");
    store.nodes = new MemoryNodes(() => performance.now());
    const [home, other] = [newHome(), newHome()];
    const first = await joinNodes(new Kernel(nodeEnv, store), { home }, noLog);
    await expect(joinNodes(new Kernel(nodeEnv, store), { home }, noLog)).rejects.toThrow("a separate --home");
    const second = await joinNodes(new Kernel(nodeEnv, store), { home: other }, noLog);
    expect(second.nodes?.id).not.toBe(first.nodes?.id);
    await first.leave();
    const third = await joinNodes(new Kernel(nodeEnv, store), { home }, noLog);
    await second.leave();
    await third.leave();
  });
});
