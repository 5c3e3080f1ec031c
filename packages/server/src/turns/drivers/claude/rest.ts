/**
 * Claude Code between two turns. Its background tasks continue, and their blocks are kept up to date. If it begins
 * something by itself (a background command has ended, it had set itself an alarm), it wakes: its output from then on
 * is kept for the turn that is opened for it.
 */

import { type JsonObject, jsonText } from "@blockyard/kernel";
import { trafficLine } from "@blockyard/providers";
import type { StreamIngest } from "../../../ingest/ingest-stream.ts";
import type { ClaudePeer, Resting } from "./peer.ts";

interface RestOptions {
  readonly peer: ClaudePeer;
  /** Of its last turn, if something of that continues. */
  readonly stream: StreamIngest | undefined;
  readonly now: () => number;
  /** It has begun something by itself. */
  readonly onWake: () => void;
  /** It runs something else in the background than before. */
  readonly onTasks: () => void;
}

export class ClaudeRest implements Resting {
  readonly #options: RestOptions;
  isAwake = false;

  written: Promise<unknown> = Promise.resolve();
  readonly left: Promise<void>;
  #leave: () => void = () => undefined;

  constructor(options: RestOptions) {
    this.#options = options;
    options.stream?.explain({});
    this.left = new Promise((resolve) => {
      this.#leave = resolve;
    });
  }

  async heard(line: string, message: JsonObject | undefined): Promise<boolean> {
    const { stream, onWake, onTasks } = this.#options;
    if (this.isAwake || isOfTurn(message)) {
      const isFirst = !this.isAwake;
      this.isAwake = true;
      if (isFirst) onWake();
      return false;
    }
    if (stream === undefined) return false;
    this.#write(this.#record("out", line));
    await this.written;
    if (message?.["subtype"] === "background_tasks_changed") onTasks();
    return true;
  }

  sent(line: string): void {
    this.#write(this.#record("in", line));
  }

  closed(): void {
    const { stream } = this.#options;
    stream?.explain({ reason: "interrupted", callError: ENDED });
    void this.written
      .then(() => stream?.end())
      .catch(() => undefined)
      .then(() => this.#leave());
  }

  #write(record: Buffer): void {
    const { stream, peer } = this.#options;
    // The boundary of what is written here: if it cannot be stored, the process is closed.
    this.written = this.written.then(() => stream?.push(record)).catch(() => peer.child.kill());
  }

  #record(direction: "in" | "out", line: string): Buffer {
    return Buffer.from(`${trafficLine(direction, line, this.#options.now())}\n`);
  }
}

export const ENDED = "Ended with Claude Code's process";

/** What it reports in a turn; everything else it says of itself. */
function isOfTurn(message: JsonObject | undefined): boolean {
  const type = jsonText(message?.["type"]);
  return TURN_LINES.has(type) || (type === "system" && message?.["subtype"] === "init");
}

const TURN_LINES = new Set(["assistant", "user", "stream_event", "result", "control_request"]);
