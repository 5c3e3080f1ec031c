/**
 * How a server ends: its parts in one fixed order, whichever of them exist by then. A start that fails halfway ends by the
 * same table as a server that is told to stop. It decides nothing about what a part does when it closes.
 *
 * Invariant: every part that was registered is closed once. One that fails is logged, and the next ones are closed all the same.
 */

import type { Log } from "../system/log.ts";

/** First no new connections are accepted, then running turns end, then their writes become durable, then the store closes. */
const ORDER = [
  "upkeep",
  "leases",
  "gateway",
  "listeners",
  "tools",
  "announcer",
  "mcp",
  "kernel",
  "sockets",
  "parser",
  "exports",
  "files", // nobody edits any more; it waits for its own writes
  "connections",
  "revocations",
  "nodes",
  "store",
  "address",
] as const;

export type Part = (typeof ORDER)[number];

export class Shutdown {
  readonly #log: Log;
  readonly #parts = new Map<Part, () => unknown>();

  constructor(log: Log) {
    this.#log = log;
  }

  register(part: Part, close: () => unknown): void {
    this.#parts.set(part, close);
  }

  /** Never rejects: the parts that could not be closed. */
  async run(): Promise<readonly Part[]> {
    const failed: Part[] = [];
    for (const part of ORDER) {
      const close = this.#parts.get(part);
      this.#parts.delete(part);
      try {
        await close?.();
      } catch (error) {
        failed.push(part);
        this.#log("error", "a part could not be closed", {
          part,
          error: String((error as Error)?.stack ?? error),
        });
      }
    }
    return failed;
  }
}
