/**
 * A NATS broker for tests: Debian's nats-server, which is installed where it is missing and can be. It can be killed, and
 * come back at the same address knowing nothing.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { debianProgram } from "../debian.ts";
import { endWithUs } from "./end-with-us.ts";

const PATHS = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
const START_MS = 10_000;

export class Broker {
  readonly port: number;
  #process: ChildProcess | undefined;

  private constructor(port: number) {
    this.port = port;
  }

  static async start(): Promise<Broker> {
    const broker = new Broker(await freePort());
    await broker.run();
    return broker;
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  async run(): Promise<void> {
    const args = ["-a", "127.0.0.1", "-p", String(this.port)];
    this.#process = endWithUs(spawn(debianProgram("nats-server", PATHS), args, { stdio: "ignore" }));
    for (const endMs = Date.now() + START_MS; !(await isOpen(this.port)); await sleep(20))
      if (Date.now() > endMs) throw new Error("nats-server does not start");
  }

  async signal(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill(signal);
    if (signal === "SIGKILL") await ended;
  }
}

function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
