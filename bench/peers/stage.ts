/**
 * What every system under comparison is asked to do: some agents write texts, each into one of its own, and some viewers have
 * live copies of all of them, through the system's own server in a process of its own and its own clients. A stage is one such
 * set-up, with the server's files in a folder of its own.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";

export const SYSTEMS = [
  "blockyard",
  "hocuspocus",
  "hocuspocus, debounce 0",
  "automerge-repo",
  "relay",
] as const;
export type System = (typeof SYSTEMS)[number];

export interface StageOptions {
  readonly agents: number;
  readonly viewers: number;
  /** Empty, for the server's files. */
  readonly folder: string;
  /** Text added to a viewer's copy of an agent's text, at its end. */
  readonly onText: (viewer: number, agent: number, text: string) => void;
}

export interface Stage {
  /** A piece of text, at the end of the agent's own. */
  write(agent: number, text: string): void;
  /** Whether the agent should wait before it writes more: its socket, or the server, has enough of it. */
  isFull(agent: number): boolean;
  /** When everything written so far has been acknowledged, as this system acknowledges. */
  acknowledged(): Promise<void>;
  /** When everything written so far is in the server's storage. */
  stored(): Promise<void>;
  /** Ends clients and server. */
  close(): Promise<void>;
}

/** A server of ours to compare with, which says its port when it listens, and answers questions one at a time. */
export class PeerServer {
  readonly #process: ChildProcess;
  readonly url: string;

  private constructor(child: ChildProcess, port: number) {
    this.#process = child;
    this.url = `ws://127.0.0.1:${port}`;
  }

  static async start(file: URL, args: readonly string[]): Promise<PeerServer> {
    const child = fork(file, args, { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    const [{ port }] = (await once(child, "message")) as [{ port: number }];
    return new PeerServer(child, port);
  }

  /** When each of the texts is stored up to this many characters. */
  async stored(wanted: Readonly<Record<string, number>>): Promise<void> {
    this.#process.send({ wanted });
    const ended = once(this.#process, "exit").then(() => {
      throw new Error("the server has ended");
    });
    await Promise.race([once(this.#process, "message"), ended]);
    ended.catch(() => undefined);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null) return;
    const ended = once(this.#process, "exit");
    this.#process.kill("SIGTERM");
    await ended;
  }
}

/** Bytes that may wait for an agent's socket. */
export const BUFFERED_BYTES = 64 * 1024;

/** Polls until it is true. */
export async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resume) => setTimeout(resume, 1));
}
