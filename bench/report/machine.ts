/**
 * What the figures were measured on: the machine, and the versions of everything that was measured or measured with. It reads,
 * and starts nothing but `chromium --version`. Names of hosts and folders are no part of it.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem, type } from "node:os";

export interface Machine {
  readonly cores: number;
  readonly processor: string;
  readonly memoryGb: number;
  readonly kernel: string;
  readonly node: string;
  readonly sqlite: string;
  readonly chromium: string;
}

/** Beside our own dependencies: whom we are compared with, and what measures. */
const PEERS = [
  "@anthropic-ai/sdk",
  "@automerge/automerge",
  "@automerge/automerge-repo",
  "@hocuspocus/provider",
  "@hocuspocus/server",
  "ai",
  "loro-crdt",
  "partial-json",
  "playwright-core",
  "react-markdown",
  "streamdown",
  "ws",
  "yjs",
];

export function thisMachine(): Machine {
  return {
    cores: cpus().length,
    processor: cpus()[0]?.model.trim() ?? "unknown",
    memoryGb: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
    node: process.versions.node,
    sqlite: process.versions.sqlite ?? "unknown",
    chromium: chromiumVersion(),
  };
}

/** How many programs ran or waited to run, on average over the last minute: figures of a busy machine deserve less trust. */
export function runningPrograms(): number {
  return Math.round((loadavg()[0] ?? 0) * 10) / 10;
}

/** Installed versions, by name. */
export function packageVersions(): Readonly<Record<string, string>> {
  const rows = PEERS.flatMap((name): [string, string][] => {
    const path = [`../node_modules/${name}/package.json`, `../../node_modules/${name}/package.json`]
      .map((each) => new URL(each, import.meta.url))
      .find((each) => existsSync(each));
    if (path === undefined) return [];
    const { version } = JSON.parse(readFileSync(path, "utf8")) as { version: string };
    return [[name, version]];
  });
  return Object.fromEntries(rows);
}

function chromiumVersion(): string {
  const { stdout } = spawnSync("chromium", ["--version"], { encoding: "utf8" });
  return /[\d.]{5,}/.exec(stdout ?? "")?.[0] ?? "not installed";
}
