/**
 * The output of a command into its block, as it comes: what it writes to either of its streams, in the order in which it
 * arrives. Characters that are cut between two chunks are put together; beyond a limit the rest is counted, not kept. Where secrets
 * are to be taken out, each stream is written line by line.
 */

import { type BlockId, isProblem, type JsonObject, type Kernel } from "@blockyard/kernel";
import { TextRedactor } from "../system/text-redactor.ts";
import { OUTPUT_CHARS, UNWRITTEN_CHARS } from "./limits.ts";

export class Output {
  readonly #kernel: Kernel;
  readonly #block: BlockId;
  readonly #agent: string;
  readonly #decoders = { out: new TextDecoder(), errors: new TextDecoder() };
  readonly #redactors: { readonly out: TextRedactor; readonly errors: TextRedactor } | undefined;
  #kept = 0;
  #dropped = 0;
  #sinceDrain = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(kernel: Kernel, block: BlockId, agent: string, isRedacted = false) {
    this.#redactors = isRedacted ? { out: new TextRedactor(), errors: new TextRedactor() } : undefined;
    this.#kernel = kernel;
    this.#block = block;
    this.#agent = agent;
  }

  /** Resolves later when much waits: the command's backpressure. */
  async push(bytes: Uint8Array): Promise<void> {
    this.#take("out", this.#decoders.out.decode(bytes, { stream: true }));
    if (this.#sinceDrain < UNWRITTEN_CHARS) return;
    this.#sinceDrain = 0;
    await this.#last;
    await this.#kernel.drain(this.#block, this.#agent);
  }

  errors(bytes: Uint8Array): void {
    this.#take("errors", this.#decoders.errors.decode(bytes, { stream: true }));
  }

  async end(status: "done" | "error", metadata: JsonObject): Promise<void> {
    for (const stream of ["out", "errors"] as const) {
      this.#take(stream, this.#decoders[stream].decode());
      this.#append(this.#redactors?.[stream].end() ?? "");
    }
    await this.#last;
    const dropped = this.#dropped > 0 ? { truncatedChars: this.#dropped } : {};
    const ended = await this.#kernel.writeBlock(this.#block, {
      agent: this.#agent,
      plan: (draft) => draft.status(this.#block, status, { ...metadata, ...dropped }),
    });
    if (!isProblem(ended)) return;
    await this.#kernel.writeBlock(this.#block, {
      agent: this.#agent,
      plan: (draft) => draft.status(this.#block, "error", { reason: "failed" }),
    });
  }

  #take(stream: "out" | "errors", text: string): void {
    this.#append(this.#redactors?.[stream].push(text) ?? text);
  }

  #append(text: string): void {
    if (text === "") return;
    const kept = text.slice(0, Math.max(0, OUTPUT_CHARS - this.#kept));
    this.#kept += kept.length;
    this.#sinceDrain += kept.length;
    this.#dropped += text.length - kept.length;
    if (kept === "") return;
    // One after the other: accepting a piece first checks the block, and pieces must not overtake each other.
    this.#last = this.#last.then(() => this.#kernel.append(this.#block, this.#agent, kept));
  }
}
