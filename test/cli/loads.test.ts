/** What a command loads: counted in modules, not in milliseconds. */
import { mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { Kernel } from "@blockyard/kernel";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { nodeEnv } from "../../packages/server/src/system/env.ts";
import { newPlace, type Place, removePlace, run } from "./command.ts";

const preload = new URL("./loaded.ts", import.meta.url).href;
let here: Place;

beforeAll(async () => {
  here = newPlace();
  mkdirSync(here.home, { mode: 0o700 });
  const store = await openSqliteStore(join(here.home, "blockyard.db"));
  const kernel = new Kernel(nodeEnv, store);
  await kernel.createConversation("ann", "The only one");
  await kernel.close();
  await store.close();
});
afterAll(() => removePlace(here));

/** The modules, with libraries by their names and sources by their paths. */
async function loadedBy(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly stdout: string; readonly modules: readonly string[] }> {
  const file = join(here.folder, "loaded.json");
  const NODE_OPTIONS = `${here.env["NODE_OPTIONS"]} --import ${preload}`;
  const { code, stdout } = await run(here, args, { env: { ...env, NODE_OPTIONS, LOADED_TO: file } });
  const urls = JSON.parse(readFileSync(file, "utf8")) as string[];
  return { code, stdout, modules: urls.map((url) => url.replace(/^.*\/(packages|node_modules)\//, "$1/")) };
}

it.each<[string[], number, number]>([
  [["help"], 0, 100],
  [["completion", "bash"], 0, 100],
  [["help", "run"], 0, 60],
  [["ls", "--nope"], 2, 60],
])("[U95] %j loads no library", async (args, exit, most) => {
  const { code, modules } = await loadedBy(args);
  expect(code).toBe(exit);
  expect(modules.filter((each) => each.startsWith("node_modules/"))).toEqual([]);
  expect(modules.length).toBeLessThan(most);
});

it("[U95] a command that a server answers loads no schema, no text, no store", async () => {
  const view = { conversation: "abc", title: "There", provider: null, blocks: 1, cost_usd: null };
  const more = { updated_at: Date.now(), running: [], metadata: {} };
  const server = createServer((request, response) => {
    const list = { conversations: [{ ...view, ...more }], more: false };
    response.end(JSON.stringify(request.url === "/health" ? { ok: true } : list));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, stdout, modules } = await loadedBy(["ls"], { BLOCKYARD_URL: url, BLOCKYARD_TOKEN: "t" });
  server.close();
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("There") });
  expect(modules.filter((each) => each.startsWith("node_modules/"))).toEqual([]);
  expect(modules.length).toBeLessThan(60);
});

it("[U95] mcp loads the protocol's library, and of the server only how to reach it: an agent may not wait for its tools", async () => {
  const server = createServer((_, response) => response.end("[]"));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { code, modules } = await loadedBy(["mcp"], { BLOCKYARD_URL: url, BLOCKYARD_TOKEN: "t" });
  server.close();
  expect(code).toBe(0);
  const foreign =
    /^packages\/(providers\/|kernel\/src\/(write|text|ingest)\/|server\/src\/(turns|stores|app\/tool-table|files)\/?)/;
  expect(modules.filter((each) => foreign.test(each))).toEqual([]);
  expect(modules.filter((each) => each.startsWith("packages/")).length).toBeLessThan(60);
});

it("[U95] one that opens the database itself loads no agent, no adapter and no transport", async () => {
  const { code, stdout, modules } = await loadedBy(["ls"]);
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining("The only one") });
  const foreign =
    /^packages\/(providers\/src\/(?!names)|server\/src\/(turns|transports|app\/(?!clean-start|starts-agents)|files|trust|rerun|export\/(?!raw-runs)|import)\/)/;
  expect(modules.filter((each) => foreign.test(each))).toEqual([]);
  expect(modules.filter((each) => each.startsWith("packages/")).length).toBeLessThan(220);
});
