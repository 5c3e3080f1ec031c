/**
 * Two nodes, a database and a broker, each a process of its own, and ways to end them. The nodes share one owner's
 * token, so that a client of one can go to the other.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Kernel } from "@blockyard/kernel";
import { nodeEnv } from "@blockyard/server";
import { openPostgresStore } from "../../packages/server/src/stores/postgres/postgres.ts";
import { serverFlags } from "../../scripts/setup.mjs";
import { FAKE } from "../e2e/lifecycle/world.ts";
import { BARE_PATH, CACHED, type Called } from "../e2e/server.ts";
import type { TestServer } from "../postgres/server.ts";
import { Broker, freePort } from "./broker.ts";
import { endWithUs } from "./end-with-us.ts";

const ANSWER_MS = 40_000;
const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));

interface NodeConfig {
  readonly database: string;
  /** Without one, nobody hints at what others have written. */
  readonly nats: string | undefined;
  readonly home: string;
  readonly root: string;
  readonly port: number;
}

export class TestHarness {
  readonly nodes: readonly [Node, Node];
  readonly broker: Broker;
  readonly token: string;

  private constructor(nodes: readonly [Node, Node], broker: Broker, token: string) {
    this.nodes = nodes;
    this.broker = broker;
    this.token = token;
  }

  static async start(server: TestServer): Promise<TestHarness> {
    const database = await server.newDatabase();
    await fill(database);
    const broker = await Broker.start();
    const token = randomBytes(32).toString("base64url");
    const make = async () => new Node(database, broker.url, await freePort(), token);
    const nodes = [await make(), await make()] as const;
    for (const node of nodes) await node.run();
    return new TestHarness(nodes, broker, token);
  }

  async stop(): Promise<void> {
    for (const node of this.nodes) await node.end("SIGKILL");
    for (const node of this.nodes) node.clear();
    await this.broker.signal("SIGKILL");
  }
}

export class Node {
  readonly config: NodeConfig;
  readonly url: string;
  readonly #token: string;
  #process: ChildProcess | undefined;
  log = "";

  constructor(database: string, nats: string | undefined, port: number, token: string) {
    const home = mkdtempSync(join(tmpdir(), "blockyard-node-"));
    const root = mkdtempSync(join(tmpdir(), "blockyard-root-"));
    writeFileSync(join(home, "token"), `${token}\n`, { mode: 0o600 });
    this.config = { database, nats, home, root, port };
    this.url = `http://127.0.0.1:${port}`;
    this.#token = token;
  }

  async run(): Promise<void> {
    const { home, root, port, database, nats } = this.config;
    const args = [MAIN, "serve", root, "--home", home, "--port", String(port)];
    if (nats !== undefined) args.push("--nats", nats);
    const child = spawn(process.execPath, [...serverFlags, ...args], {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: BARE_PATH,
        HOME: home,
        ...CACHED,
        BLOCKYARD_CLAUDE: FAKE,
        BLOCKYARD_DATABASE: database,
      },
    });
    this.#process = endWithUs(child);
    child.stderr?.on("data", (data: Buffer) => {
      this.log += data.toString();
    });
    await new Promise<void>((resolve, reject) => {
      child.stdout?.once("data", () => resolve());
      child.once("exit", (code) => reject(new Error(`a node ended with ${code}: ${this.log}`)));
    });
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get isRunning(): boolean {
    const child = this.#process;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    await ended;
  }

  clear(): void {
    for (const folder of [this.config.home, this.config.root])
      rmSync(folder, { recursive: true, force: true });
  }

  async call(tool: string, input: unknown, key?: string): Promise<Called> {
    const response = await fetch(`${this.url}/v1/tools/${tool}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": "application/json",
        ...(key === undefined ? {} : { "idempotency-key": key }),
      },
      body: JSON.stringify(input),
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Calls that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: what a tool answers is looked at field by field
  async do(tool: string, input: unknown, key?: string): Promise<any> {
    const { status, body } = await this.call(tool, input, key);
    if (status !== 200) throw new Error(`${tool}: ${status} ${JSON.stringify(body)}`);
    return body;
  }
}

/** A new workspace would replay recordings. */
export async function fill(database: string): Promise<void> {
  const store = await openPostgresStore(database);
  await new Kernel(nodeEnv, store).createConversation("ann", "not empty");
  await store.close();
}

/** What is there, once it is. */
export async function until<T>(what: string, ms: number, look: () => Promise<T | undefined>): Promise<T> {
  for (const endMs = Date.now() + ms; ; await sleep(30)) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > endMs) throw new Error(`not within ${ms} ms: ${what}`);
  }
}
