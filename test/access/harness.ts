/**
 * A real server for tests of access: a data directory of its own, a free port, every log line kept. And ways to call
 * it: plain requests with any headers, bytes on a bare socket, and an upgrade.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { type IncomingHttpHeaders, request } from "node:http";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Env } from "@blockyard/kernel";
import { type Config, jsonLog, makeConfig, nodeEnv, type Running, serve } from "@blockyard/server";
import { Browser } from "./browser.ts";

export interface Asked {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Asking {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** The loopback address to come from: guesses are counted by peer. */
  readonly from?: string;
  readonly token?: string;
}

export class TestHarness {
  readonly home: string;
  readonly root: string;
  readonly lines: string[];
  readonly running: Running;
  readonly port: number;

  private constructor(home: string, root: string, lines: string[], running: Running) {
    this.home = home;
    this.root = root;
    this.lines = lines;
    this.running = running;
    this.port = Number(new URL(running.url).port);
  }

  static async start(config: Partial<Config> = {}, env: Env = nodeEnv): Promise<TestHarness> {
    const home = config.home ?? mkdtempSync(join(tmpdir(), "blockyard-access-"));
    const root = mkdtempSync(join(tmpdir(), "blockyard-root-"));
    const lines: string[] = [];
    const log = jsonLog((line) => lines.push(line), Date.now);
    const running = await serve({ ...makeConfig({ env: {}, home, root, port: 0 }), ...config }, log, env);
    return new TestHarness(home, root, lines, running);
  }

  async stop(): Promise<void> {
    await this.running.stop();
    rmSync(this.home, { recursive: true, force: true });
    rmSync(this.root, { recursive: true, force: true });
  }

  get owner(): string {
    return this.running.auth.ownerToken;
  }

  get host(): string {
    return `127.0.0.1:${this.port}`;
  }

  get origin(): string {
    return `http://${this.host}`;
  }

  agent(name: string): string {
    return this.running.auth.create(name, "agent");
  }

  viewer(name: string): string {
    return this.running.auth.create(name, "viewer");
  }

  /** A browser that is let in: the owner's, or that of a viewer whose token is given. */
  browser(token?: string, name?: string): Promise<Browser> {
    return Browser.enter(`${this.origin}/?link=${this.running.auth.makeLink(token, name)}`);
  }

  ask(path: string, { method = "GET", headers = {}, body, from, token }: Asking = {}): Promise<Asked> {
    return new Promise((resolve, reject) => {
      const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const asked = request(
        {
          host: "127.0.0.1",
          port: this.port,
          method,
          path,
          headers: { ...bearer, ...headers },
          agent: false,
          ...(from === undefined ? {} : { localAddress: from }),
        },
        (response) => {
          let text = "";
          response.setEncoding("utf8").on("data", (piece: string) => {
            text += piece;
          });
          response.on("end", () =>
            resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
          );
          response.on("error", reject);
        },
      );
      asked.on("error", reject);
      asked.end(body);
    });
  }

  /** A tool over HTTP, as the owner unless a token is given. */
  async call(tool: string, input: unknown, token = this.owner): Promise<Record<string, string>> {
    const { body } = await this.ask(`/v1/tools/${tool}`, {
      method: "POST",
      body: JSON.stringify(input),
      token,
    });
    return JSON.parse(body) as Record<string, string>;
  }

  /** Opens a bare socket and writes bytes. */
  socket(bytes: string | Buffer, from?: string): Socket {
    const socket = connect({
      host: "127.0.0.1",
      port: this.port,
      ...(from === undefined ? {} : { localAddress: from }),
    });
    socket.on("error", () => undefined);
    socket.write(bytes);
    return socket;
  }

  /** The answer to bytes on a bare socket, until the server closes or `until` is in it. */
  raw(bytes: string | Buffer, from?: string, until = "\r\n\r\n"): Promise<string> {
    return new Promise((resolve) => {
      const socket = this.socket(bytes, from);
      let text = "";
      socket.on("data", (piece) => {
        text += piece.toString("latin1");
        if (text.includes(until)) socket.destroy();
      });
      socket.on("close", () => resolve(text));
    });
  }

  /** The status of an upgrade with these headers. */
  async upgrade(path: string, headers: Readonly<Record<string, string>>, from?: string): Promise<number> {
    const lines = Object.entries({ host: this.host, ...UPGRADE, ...headers });
    const text = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
    return statusOf(await this.raw(`GET ${path} HTTP/1.1\r\n${text}\r\n`, from));
  }

  /** Everything that a side effect would change. */
  async state(): Promise<string> {
    const { store } = this.running;
    const conversations = await store.conversations({ limit: 1_000_000 });
    const blocks = await store.blocks({ order: "first", limit: 1_000_000 });
    return JSON.stringify([
      conversations.map(({ id, seq, title }) => [id, seq, title]),
      blocks.map(({ id, version, status }) => [id, version, status]),
      this.running.tools.turns.running,
    ]);
  }

  /** The audit lines since a point in the log. */
  refusals(since = 0): readonly Record<string, unknown>[] {
    return this.lines
      .slice(since)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
      .filter(({ event }) => event === "refused");
  }
}

export const UPGRADE: Readonly<Record<string, string>> = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
};

export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0);
}

/** A random 127.x.y.z address: as a peer of its own, so that guesses of other tests are not counted. */
let nextPeer = 0;
export function freshPeer(): string {
  nextPeer++;
  return `127.0.${1 + (nextPeer >> 8)}.${nextPeer & 255}`;
}
