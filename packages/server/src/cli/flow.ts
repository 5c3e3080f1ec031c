/** A stream on its way from its reader to its writer. */
import type { HeadReader } from "../ingest/stream-head.ts";
import { PIPE_WAITING_BYTES } from "./limits.ts";

/** The stream between the reader and the recorder, bounded: a slow recorder slows the agent, a closed one does not. */
export class Flow {
  readonly #chunks: Uint8Array[] = [];
  #bytes = 0;
  #isOver = false;
  #isGivenUp = false;
  #wakeKeeper: (() => void) | undefined;
  #wakeReader: (() => void) | undefined;

  async push(chunk: Uint8Array): Promise<void> {
    if (this.#isGivenUp) return;
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#wakeKeeper?.();
    if (this.#bytes <= PIPE_WAITING_BYTES) return;
    await new Promise<void>((resolve) => {
      this.#wakeReader = resolve;
    });
  }

  end(): void {
    this.#isOver = true;
    this.#wakeKeeper?.();
  }

  /** Nobody reads any more. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#chunks.length = 0;
    this.#wakeReader?.();
  }

  /** The beginning, as much as the reader needs; it stays in the body. */
  async start(head: HeadReader): Promise<Uint8Array> {
    for (let at = 0; ; ) {
      for (const chunk of this.#chunks.slice(at)) head.push(chunk);
      at = this.#chunks.length;
      if (this.#isOver || head.isEnough) return head.start;
      await this.#more();
    }
  }

  async *body(): AsyncGenerator<Uint8Array> {
    for (;;) {
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#bytes -= chunk.length;
        if (this.#bytes <= PIPE_WAITING_BYTES) this.#wakeReader?.();
        yield chunk;
      } else if (this.#isOver) return;
      else await this.#more();
    }
  }

  async #more(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wakeKeeper = resolve;
    });
  }
}
