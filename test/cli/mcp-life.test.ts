/** `blockyard mcp` ends with its client, however and whenever that goes, and answers earlier requests. */
import { type ChildProcess, spawn } from "node:child_process";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ended, MAIN, newPlace, type Place, removePlace, run, serve, start } from "./command.ts";

const LIMIT_MS = 60_000;
let place: Place;
let token = "";
/** A server that takes every request and answers none. */
let silent: Server;
let silentUrl = "";

beforeAll(async () => {
  place = newPlace();
  token = (await run(place, ["token", "create", "--agent", "model-mcp"])).stdout.trim();
  silent = createServer(() => undefined);
  await new Promise<void>((listening) => silent.listen(0, "127.0.0.1", listening));
  silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
}, LIMIT_MS);

afterAll(() => {
  silent.closeAllConnections();
  silent.close();
  removePlace(place);
});

function mcp(env: Record<string, string> = {}): ChildProcess {
  return start(place, ["mcp"], { BLOCKYARD_TOKEN: token, ...env });
}

const rows: [string, Record<string, string>][] = [
  ["no server", {}],
  ["a server that is gone", { BLOCKYARD_URL: "http://127.0.0.1:9" }],
];

function line(id: number, method: string, params: object): string {
  return `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
}

const hello = line(1, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
});

describe("[AC66] blockyard mcp ends", () => {
  it.each(rows)(
    "[AC66] when its input ends at once, with %s",
    async (_, env) => {
      const child = mcp(env);
      const end = ended(child);
      child.stdin?.end();
      expect((await end).code).toBe(0);
    },
    LIMIT_MS,
  );

  it(
    "[AC66] when its input ends while a server does not answer",
    async () => {
      const child = mcp({ BLOCKYARD_URL: silentUrl });
      const end = ended(child);
      const asked = new Promise((request) => silent.once("request", request));
      await asked;
      child.stdin?.end();
      expect((await end).code).toBe(0);
    },
    LIMIT_MS,
  );

  it.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
    "[AC66] at %s, also while a server does not answer",
    async (signal) => {
      const child = mcp({ BLOCKYARD_URL: silentUrl });
      const end = ended(child);
      await new Promise((request) => silent.once("request", request));
      child.kill(signal);
      expect((await end).code).toBe(0);
    },
    LIMIT_MS,
  );

  it(
    "[AC66] when nobody reads its output any more",
    async () => {
      const child = mcp();
      const end = ended(child);
      child.stdout?.destroy();
      child.stdin?.on("error", () => undefined);
      child.stdin?.write(hello);
      expect((await end).code).toBe(0);
    },
    LIMIT_MS,
  );

  it(
    "[AC66] when its client is killed, also where another process holds its input open",
    async () => {
      // The shell is the client. What it starts besides keeps the writing end of the pipe, and lives on.
      const file = `${place.folder}/input`;
      const script = [
        `mkfifo ${file}`,
        `sleep 60 > ${file} & echo "holder $!"`,
        `${process.execPath} ${MAIN} mcp < ${file} > /dev/null & echo "server $!"`,
        "wait",
      ].join("\n");
      const env = { ...place.env, BLOCKYARD_TOKEN: token, BLOCKYARD_URL: silentUrl };
      const begun = new Promise((request) => silent.once("request", request));
      const client = spawn("/bin/bash", ["-c", script], { env });
      const pids = await new Promise<Record<string, number>>((known) => {
        let text = "";
        client.stdout.on("data", (bytes: Buffer) => {
          text += bytes.toString();
          const found = [...text.matchAll(/^(\w+) (\d+)$/gm)].map(([, name, pid]) => [name, Number(pid)]);
          if (found.length === 2) known(Object.fromEntries(found) as Record<string, number>);
        });
      });
      const isAlive = (pid: number | undefined) => {
        try {
          return process.kill(pid ?? 0, 0);
        } catch {
          return false;
        }
      };
      await begun;
      client.kill("SIGKILL");
      try {
        await expect.poll(() => isAlive(pids["server"]), { timeout: 30_000, interval: 50 }).toBe(false);
        expect(isAlive(pids["holder"])).toBe(true);
      } finally {
        if (isAlive(pids["holder"])) process.kill(pids["holder"] ?? 0, "SIGKILL");
        if (isAlive(pids["server"])) process.kill(pids["server"] ?? 0, "SIGKILL");
      }
    },
    LIMIT_MS,
  );
});

it(
  "[AC66] requests from before the end of input are answered first",
  async () => {
    const server = await serve(place);
    const call = line(2, "tools/call", { name: "conversation_list", arguments: {} });
    const started = JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" });
    const child = mcp();
    const end = ended(child);
    child.stdin?.end(`${hello}${started}\n${call}`);
    const { code, stdout } = await end;
    const answers = stdout
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as { id?: number; result?: unknown });
    expect(answers.filter(({ result }) => result !== undefined).map(({ id }) => id)).toEqual([1, 2]);
    expect(code).toBe(0);
    await server.stop();
  },
  LIMIT_MS,
);
