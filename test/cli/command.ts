/**
 * The command as people run it: a process of its own with a data directory of its own, and nothing of this machine's
 * environment.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CACHED } from "../e2e/server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
export const MAIN = join(root, "packages/server/src/main.ts");
export const fixtures = join(root, "packages/providers/fixtures");

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Place {
  readonly folder: string;
  readonly home: string;
  readonly env: Readonly<Record<string, string>>;
}

export function newPlace(): Place {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-cli-"));
  const home = join(folder, "yard");
  mkdirSync(join(folder, "work"));
  const env = {
    PATH: process.env["PATH"] ?? "",
    HOME: folder,
    ...CACHED,
    BLOCKYARD_HOME: home,
    CLAUDE_CONFIG_DIR: join(folder, ".claude"),
    CODEX_HOME: join(folder, ".codex"),
    NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
  };
  return { folder, home, env };
}

export function removePlace({ folder }: Place): void {
  rmSync(folder, { recursive: true, force: true });
}

export interface RunOptions {
  readonly input?: string | Uint8Array;
  readonly env?: Readonly<Record<string, string>>;
}

export function start(place: Place, args: readonly string[], env: RunOptions["env"] = {}): ChildProcess {
  const cwd = join(place.folder, "work");
  return spawn(process.execPath, [MAIN, ...args], { cwd, env: { ...place.env, ...env } });
}

export function ended(child: ChildProcess): Promise<Ended> {
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr?.on("data", (chunk: Buffer) => err.push(chunk));
  return new Promise((resolve) => {
    child.on("close", (code) =>
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() }),
    );
  });
}

/** From another folder than usual. */
export function runIn(place: Place, cwd: string, args: readonly string[]): Promise<Ended> {
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: place.env });
  child.stdin?.end();
  return ended(child);
}

export function run(place: Place, args: readonly string[], { input, env }: RunOptions = {}): Promise<Ended> {
  const child = start(place, args, env);
  child.stdin?.on("error", () => undefined); // it may end before it has read everything
  child.stdin?.end(input ?? "");
  return ended(child);
}

/** Runs the server until `stop`. Resolves when it has printed its link. */
export async function serve(place: Place): Promise<{ readonly link: string; stop(): Promise<Ended> }> {
  const child = start(place, ["serve", "--port", "0"]);
  const end = ended(child);
  const link = await printed(child, /Open\s+(http\S+)/);
  return {
    link,
    stop: () => {
      child.kill("SIGTERM");
      return end;
    },
  };
}

/** Calls tools of the place's running server as its owner. */
// biome-ignore lint/suspicious/noExplicitAny: what a tool answers is looked at field by field
export function ownerCalls({ home }: Place): (tool: string, input: object) => Promise<any> {
  const { url } = JSON.parse(readFileSync(join(home, "server.json"), "utf8")) as { url: string };
  const token = readFileSync(join(home, "token"), "utf8").trim();
  return async (tool, input) => {
    const request = { method: "POST", headers: { authorization: `Bearer ${token}` } };
    return (await fetch(`${url}/v1/tools/${tool}`, { ...request, body: JSON.stringify(input) })).json();
  };
}

/** Waits until a process has printed what is looked for. */
export function printed(
  child: ChildProcess,
  pattern: RegExp,
  stream: "stdout" | "stderr" = "stdout",
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child[stream]?.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      const found = pattern.exec(text);
      if (found) resolve(found[1] ?? found[0]);
    });
    child.on("close", (code) =>
      reject(new Error(`ended with ${code} before it printed ${pattern}: ${text}`)),
    );
  });
}

/** Puts recorded sessions where the programs keep them. */
export function placeSessions({ env }: Place, claude: readonly string[], codex: readonly string[]): void {
  for (const name of claude) {
    const to = join(env["CLAUDE_CONFIG_DIR"] as string, "projects", `-${name}`);
    cpSync(join(fixtures, "claude-sessions", name), to, { recursive: true });
  }
  for (const name of codex) {
    const to = join(env["CODEX_HOME"] as string, "sessions");
    mkdirSync(dirname(to), { recursive: true });
    cpSync(join(fixtures, "codex-sessions", name), to, { recursive: true });
  }
}

export function jsonLines(text: string): Record<string, unknown>[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
