/**
 * Threads that are ended while they compress: the program survives. In a process of its own, which would be aborted
 * otherwise.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, expect, it } from "vitest";

const ROUNDS = 20;
const AT_ONCE = 4;
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const THREAD = `import { parentPort, workerData } from "node:worker_threads";
import { useGate, zstdCompress, zstdDecompress } from "${new URL("./zstd.ts", import.meta.url).href}";
useGate(workerData.gate);
const packed = zstdCompress(Buffer.alloc(30, "abc"));
parentPort.postMessage("begun");
for (;;) zstdDecompress(packed);
`;

const PROGRAM = `import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { ThreadGate } from "${new URL("./thread-gate.ts", import.meta.url).href}";
async function endOne(n) {
  const gate = new ThreadGate();
  const worker = new Worker(new URL("./thread.mjs", import.meta.url), { workerData: { gate: gate.shared } });
  await once(worker, "message");
  await sleep(n % 4);
  await gate.end(worker);
}
for (let n = 0; n < ${ROUNDS}; n++) await Promise.all(Array.from({ length: ${AT_ONCE} }, () => endOne(n)));
console.log("lives");
`;

it("[S80] a thread can be ended at any moment while it decompresses", async () => {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-gate-"));
  folders.push(folder);
  writeFileSync(join(folder, "thread.mjs"), THREAD);
  writeFileSync(join(folder, "program.mjs"), PROGRAM);
  const flags = ["--disable-warning=ExperimentalWarning"];
  const run = promisify(execFile)(process.execPath, [...flags, join(folder, "program.mjs")]);
  await expect(run).resolves.toEqual({ stdout: "lives\n", stderr: "" });
}, 120_000);
