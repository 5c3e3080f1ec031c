/** The short form of `npm run load -- flood`: the same flood, a few seconds of it, and ratios that any machine keeps. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Auth } from "@blockyard/server";
import { expect, it } from "vitest";
import { flood } from "../load/flooded.ts";
import { Process } from "./process.ts";

it("[AC230] a flood over every transport leaves the owner its turn, and is over when it ends", async () => {
  const home = mkdtempSync(join(tmpdir(), "blockyard-flood-"));
  const server = await Process.start(home, home);
  const headers = { authorization: `Bearer ${server.token}` };
  const call = async (tool: string, input: unknown) => {
    const url = `${server.url}/v1/tools/${tool}`;
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(input) });
    return (await response.json()) as Record<string, string>;
  };
  const auth = new Auth(home, "owner", () => performance.now());
  const { conversation = "" } = await call("conversation.create", { title: "flood" });
  const made = { conversation, kind: "text", role: "user" };
  const content = "a line of words\n".repeat(60_000);
  const { block_id: block = "" } = await call("block.create", { ...made, content });
  const { block_id: small } = await call("block.create", { ...made, content: "small\n" });
  const viewers = [auth.create("wall-1", "viewer"), auth.create("wall-2", "viewer")];
  const agents = [auth.create("busy-1", "agent"), auth.create("busy-2", "agent")];
  const order = { url: server.url, viewers, agents, conversation, block, seconds: 5 };
  const { idle, elsewhere, flooded, outcome } = await flood(order, 3, {
    pid: server.child.pid ?? 0,
    call: () => call("block.read", { block_id: small }),
  });
  const answered = Object.values(outcome.answers).reduce((sum, count) => sum + count, 0);
  expect(answered).toBeGreaterThan(20);
  // Without turns half of the owner's calls take as long as all earlier requests: hundreds of times as long.
  expect(flooded.p50Ms / elsewhere.p99Ms).toBeLessThan(3);
  // The server's work between an owner's request and its answer: its own part, and little of others'.
  expect(flooded.workP99Ms / idle.workP99Ms).toBeLessThan(10);
  const metrics = async () => (await fetch(`${server.url}/metrics`, { headers })).text();
  await expect.poll(metrics, { timeout: 20_000 }).toMatch(/^blockyard_sockets 0$/m);
  await expect.poll(metrics, { timeout: 20_000 }).toMatch(/^blockyard_calls_waiting 0$/m);
  expect(await metrics()).toMatch(/^blockyard_faults_total 0$/m);
  server.child.kill("SIGTERM");
  await server.ended;
  rmSync(home, { recursive: true, force: true });
}, 60_000);
