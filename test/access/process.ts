/** The server as its users run it: a process of its own, started by the command, called over its port. */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { serverFlags } from "../../scripts/setup.mjs";
import { CACHED } from "../e2e/server.ts";

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));

export class Process {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token: string;
  /** Everything that it has printed. */
  readonly output: { out: string; err: string };
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;

  private constructor(
    child: ChildProcess,
    output: { out: string; err: string },
    link: URL,
    token: string,
    ended: Promise<{ code: number | null; signal: string | null }>,
  ) {
    this.child = child;
    this.output = output;
    this.url = link.origin;
    this.token = token;
    this.ended = ended;
  }

  static async start(
    home: string,
    root: string,
    args: readonly string[] = ["--port", "0"],
    more: Readonly<Record<string, string>> = {},
    /** Files that it is started with, by their number in the child. */
    files: Readonly<Record<number, number>> = {},
  ): Promise<Process> {
    const flags = [...serverFlags, MAIN, "serve", root, "--home", home, ...args];
    const env = { PATH: process.env["PATH"] ?? "", HOME: root, ...CACHED, ...more };
    const stdio: ("ignore" | "pipe" | number)[] = ["ignore", "pipe", "pipe"];
    for (let at = 3; at <= Math.max(2, ...Object.keys(files).map(Number)); at++)
      stdio[at] = files[at] ?? "ignore";
    const child = spawn(process.execPath, flags, { env, stdio });
    const output = { out: "", err: "" };
    const ended = new Promise<{ code: number | null; signal: string | null }>((end) => {
      child.on("close", (code, signal) => end({ code, signal }));
    });
    child.stderr?.on("data", (bytes: Buffer) => {
      output.err += bytes.toString();
    });
    const link = await new Promise<URL>((found, failed) => {
      child.stdout?.on("data", (bytes: Buffer) => {
        output.out += bytes.toString();
        const text = /http:\/\/\S+\?link=\S+/.exec(output.out)?.[0];
        if (text) found(new URL(text));
      });
      ended.then(({ code }) => failed(new Error(`ended with ${code}: ${output.err}`)));
    });
    const token = readFileSync(join(home, "token"), "utf8").trim();
    return new Process(child, output, link, token, ended);
  }

  get port(): number {
    return Number(new URL(this.url).port);
  }

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { authorization: `Bearer ${this.token}`, ...(init.headers as Record<string, string>) };
    return fetch(`${this.url}${path}`, { ...init, headers });
  }

  async call(tool: string, input: object, key?: string): Promise<Record<string, unknown>> {
    const headers = key === undefined ? {} : { "idempotency-key": key };
    const answer = await this.fetch(`/v1/tools/${tool}`, {
      method: "POST",
      body: JSON.stringify(input),
      headers,
    });
    return (await answer.json()) as Record<string, unknown>;
  }

  /** A figure of /metrics. */
  async metric(name: string): Promise<number> {
    const text = await (await this.fetch("/metrics")).text();
    return Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]);
  }

  async stop(
    signal: NodeJS.Signals = "SIGTERM",
  ): Promise<{ code: number | null; signal: string | null; ms: number }> {
    const startMs = performance.now();
    this.child.kill(signal);
    return { ...(await this.ended), ms: performance.now() - startMs };
  }
}
