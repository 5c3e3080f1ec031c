/**
 * A writer whose blocks must each exist once: it sends each with a key, and without an answer sends it again, to the
 * other node.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { TestHarness } from "./harness.ts";

/** Without an answer for this long it goes to the other node. */
const PATIENCE_MS = 3_000;

export class Writer {
  readonly name: string;
  readonly acknowledged: string[] = [];
  readonly #harness: TestHarness;
  readonly #conversation: string;
  #node: number;
  #isOver = false;
  /** How often no answer came. */
  retries = 0;
  readonly done: Promise<void>;

  constructor(harness: TestHarness, node: number, conversation: string, name: string, pauseMs: number) {
    this.#harness = harness;
    this.#node = node;
    this.#conversation = conversation;
    this.name = name;
    this.done = this.#run(pauseMs);
  }

  stop(): Promise<void> {
    this.#isOver = true;
    return this.done;
  }

  async #run(pauseMs: number): Promise<void> {
    for (let n = 0; !this.#isOver; n++) {
      await this.#write(`${this.name} ${n}`);
      await sleep(pauseMs);
    }
  }

  async #write(content: string): Promise<void> {
    const input = { conversation: this.#conversation, kind: "text", role: "user", status: "done", content };
    for (;;) {
      const node = this.#harness.nodes[this.#node % 2];
      const late = sleep(PATIENCE_MS).then(() => undefined);
      const asked = node?.call("block.create", input, content.replace(" ", "-")).catch(() => undefined);
      const answer = await Promise.race([asked, late]);
      if (answer?.status === 200) return void this.acknowledged.push(content);
      this.retries++;
      this.#node++;
      await sleep(50);
    }
  }
}
