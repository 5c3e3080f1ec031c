/** A whole server on a disk that fails under it: it stays alive, reports the error, and ends on request. */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { Process } from "../access/process.ts";
import { MAIN } from "../cli/command.ts";
import { buildDisk, makeDirectory, removeDirectory } from "./lab.ts";

const directory = makeDirectory();
afterAll(() => removeDirectory(directory));

const disk = buildDisk(directory);
const library = "path" in disk ? disk.path : "";
const why = "missing" in disk ? ` (not run here: ${disk.missing})` : "";
const onDisk = library === "" ? it.skipIf(true) : it;

function place(name: string): { home: string; root: string; flag: string; env: Record<string, string> } {
  const folder = join(directory, name);
  const [home, root, flag] = [join(folder, "home"), join(folder, "work"), join(folder, "flag")];
  for (const each of [home, root]) mkdirSync(each, { recursive: true, mode: 0o700 });
  return { home, root, flag, env: { LD_PRELOAD: library, FAULT_DIR: `${home}/` } };
}

async function until(look: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await look())) await new Promise((resolve) => setTimeout(resolve, 20));
}

onDisk(
  `[AC65] a store that fails while a first start plays its recordings costs the recordings, not the server${why}`,
  async () => {
    const { home, root, flag, env } = place("full");
    const server = await Process.start(home, root, ["--port", "0"], { ...env, FAULT_READONLY: flag });
    await until(async () => {
      const { conversations } = (await server.call("conversation.list", {})) as { conversations: unknown[] };
      return conversations.length > 0;
    });
    writeFileSync(flag, "");
    const refused = await server.call("conversation.create", { title: "lost" });
    expect(refused).toMatchObject({ problem: "storage" });
    expect((await server.fetch("/health")).status).toBe(200);
    rmSync(flag);
    expect(await server.call("conversation.create", { title: "x" })).toHaveProperty("conversation");
    expect(await server.stop()).toMatchObject({ code: 0, signal: null });
    expect(server.output.err).not.toMatch(/unhandled|Unhandled/);
  },
  60_000,
);

onDisk(
  `[AC50] on a home that has become read-only a server ends when it is told to, as any other${why}`,
  async () => {
    const { home, root, flag, env } = place("read-only");
    const server = await Process.start(home, root, ["--port", "0"], { ...env, FAULT_READONLY: flag });
    await server.call("conversation.create", { title: "kept" });
    writeFileSync(flag, "");
    const refused = await server.call("conversation.create", { title: "lost" });
    expect(refused).toMatchObject({ problem: "storage" });
    // Not by the limit after which it would be made to end: with that, the code is 1.
    expect(await server.stop()).toMatchObject({ code: 0, signal: null });
    rmSync(flag);
    const next = await Process.start(home, root, ["--port", "0"]);
    const { conversations } = (await next.call("conversation.list", { title: "kept" })) as {
      conversations: unknown[];
    };
    expect(conversations).toHaveLength(1);
    expect((await next.stop()).code).toBe(0);
  },
  60_000,
);

it("[S46] [S47] a server whose database is deleted refuses, reports it, and loses nothing acknowledged", async () => {
  const { home, root } = place("deleted");
  const server = await Process.start(home, root);
  await server.call("conversation.create", { title: "kept" });
  const path = join(home, "blockyard.db");
  rmSync(path);
  const refused = await server.call("conversation.create", { title: "lost" });
  expect(refused).toMatchObject({
    problem: "storage",
    message: expect.stringContaining(`${path} was deleted while it was in use`),
  });
  const health = await server.fetch("/health");
  expect(health.status).toBe(503);
  expect(await health.json()).toMatchObject({ ok: false, database: expect.stringContaining("was deleted") });
  expect(await server.stop()).toMatchObject({ code: 0 });
  const rescued = readdirSync(home).find((name) => name.includes(".rescued-")) as string;
  const restored = spawnSync(process.execPath, [MAIN, "restore", join(home, rescued), "--home", home]);
  expect(restored.status, String(restored.stderr)).toBe(0);
  const next = await Process.start(home, root);
  const { conversations } = (await next.call("conversation.list", {})) as {
    conversations: { title: string }[];
  };
  expect(conversations.map(({ title }) => title)).toContain("kept");
  expect(conversations.map(({ title }) => title)).not.toContain("lost");
  expect((await next.stop()).code).toBe(0);
}, 60_000);

it("[S46] a server whose database is emptied refuses, and writes nothing into what is left when it stops", async () => {
  const { home, root } = place("emptied");
  const server = await Process.start(home, root);
  const path = join(home, "blockyard.db");
  truncateSync(path, 0);
  const refused = await server.call("conversation.create", { title: "lost" });
  expect(refused).toMatchObject({ problem: "storage", message: expect.stringContaining("was emptied") });
  expect((await server.fetch("/health")).status).toBe(503);
  expect(await server.stop()).toMatchObject({ code: 0 });
  expect(statSync(path).size).toBe(0);
}, 60_000);
