/**
 * Puts a load on the real server and on the bare relay: each of them, and the load, is a process of its own. Repeated
 * measurements alternate, in the same minute, since on a busy machine only the difference is meaningful.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Kernel } from "@blockyard/kernel";
import { nodeEnv } from "@blockyard/server";
import { indexPath } from "../../packages/server/src/stores/sqlite/search/index-folder.ts";
import { openSqliteStore } from "../../packages/server/src/stores/sqlite/sqlite.ts";
import { Server } from "../../test/e2e/server.ts";
import type { Attach, Attached, Order, Outcome, Place } from "./order.ts";

/** Fifty agents, each with ten flushes a second, and twenty viewers that see all of it: ten thousand deliveries a second. */
export const FULL = {
  agents: 50,
  viewers: 20,
  stalled: 0,
  flushesPerSecond: 10,
  lineChars: 60,
} as const;

export interface Pair {
  readonly blockyard: Outcome;
  readonly bare: Outcome;
}

const LOOK_MS = 100;

/** A server that starts for the first time replays recordings, beside what is measured. */
async function begin(path: string): Promise<void> {
  const store = await openSqliteStore(path);
  await new Kernel(nodeEnv, store).createConversation("bench", "not the first start");
  await store.close();
}

export class Driver {
  readonly home: string;
  readonly #relay: ChildProcess;
  readonly #loads: ChildProcess[];
  #server: Server;
  readonly bare: Place;

  private constructor(server: Server, relay: ChildProcess, port: number, home: string) {
    this.home = home;
    this.#server = server;
    this.#relay = relay;
    this.bare = { target: "relay", url: `ws://127.0.0.1:${port}`, token: "" };
    // The second is for what happens beside a load.
    this.#loads = [0, 1].map(() => fork(new URL("./load.ts", import.meta.url), { stdio: "inherit" }));
  }

  /** `store`: an existing database; the server gets a copy, with its search index. */
  static async open(store?: string): Promise<Driver> {
    const home = mkdtempSync(join(tmpdir(), "blockyard-load-"));
    const path = join(home, "blockyard.db");
    if (store !== undefined) copyStore(store, path);
    else await begin(path);
    const server = await Server.start({ home, root: home });
    const relay = fork(new URL("./relay.ts", import.meta.url), { stdio: "inherit" });
    const [{ port }] = (await once(relay, "message")) as [{ port: number }];
    return new Driver(server, relay, port, home);
  }

  get server(): Server {
    return this.#server;
  }

  get blockyard(): Place {
    return { target: "blockyard", url: this.#server.url, token: this.#server.token };
  }

  play(order: Order): Promise<Outcome> {
    return ask(this.#loads[0]!, order);
  }

  /** While a load plays. */
  attach(order: Attach): Promise<Attached> {
    return ask(this.#loads[1]!, order);
  }

  /** Server and relay alternately, each first in every other pair. Programs that have just started are not measured. */
  async pairs(
    count: number,
    order: Omit<Order, keyof Place>,
    bareSeconds = order.seconds,
    behindEach: () => Promise<void> = async () => {},
  ): Promise<Pair[]> {
    const blockyard = () => this.play({ ...order, ...this.blockyard });
    const bare = () => this.play({ ...order, ...this.bare, seconds: bareSeconds });
    const warm = { ...order, seconds: Math.min(3, order.seconds) };
    for (const place of [this.blockyard, this.bare]) await this.play({ ...warm, ...place });
    const pairs: Pair[] = [];
    for (let pair = 0; pair < count; pair++) {
      if (pair % 2 === 0) {
        const first = await blockyard();
        pairs.push({ blockyard: first, bare: await bare() });
      } else {
        const first = await bare();
        pairs.push({ blockyard: await blockyard(), bare: first });
      }
      await behindEach();
    }
    return pairs;
  }

  residentMb(): number {
    const status = readFileSync(`/proc/${this.#server.pid}/status`, "utf8");
    return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
  }

  openFiles(): number {
    return readdirSync(`/proc/${this.#server.pid}/fd`).length;
  }

  /** The result of the work, and the server's peak memory during it. */
  async peakMb<T>(work: Promise<T>): Promise<{ readonly outcome: T; readonly peakMb: number }> {
    let peakMb = this.residentMb();
    const look = setInterval(() => {
      peakMb = Math.max(peakMb, this.residentMb());
    }, LOOK_MS);
    try {
      return { outcome: await work, peakMb };
    } finally {
      clearInterval(look);
    }
  }

  /** A figure of the server's own. */
  async metric(name: string): Promise<number> {
    const headers = { authorization: `Bearer ${this.#server.token}` };
    const text = await (await fetch(`${this.#server.url}/metrics`, { headers })).text();
    return Number(new RegExp(`^${name} (.+)$`, "m").exec(text)?.[1]);
  }

  /** `between`: runs while the server is stopped. */
  async restart(between: () => Promise<void> = async () => {}): Promise<void> {
    await this.#server.stop();
    await between();
    this.#server = await Server.start({ home: this.home, root: this.home });
  }

  async close(): Promise<void> {
    for (const child of [...this.#loads, this.#relay]) child.kill();
    await this.#server.stop();
    rmSync(this.home, { recursive: true, force: true });
  }
}

function copyStore(from: string, to: string): void {
  cpSync(from, to);
  if (existsSync(indexPath(from))) cpSync(indexPath(from), indexPath(to), { recursive: true });
}

function ask<T>(load: ChildProcess, order: Order | Attach): Promise<T> {
  load.send(order);
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error("the load has ended before its time"));
    load.once("exit", ended);
    load.once("message", (outcome) => {
      load.off("exit", ended);
      resolve(outcome as T);
    });
  });
}
