/** A stream on its way from its reader to its writer. */
import { PIPE_START_BYTES, PIPE_START_LINES, PIPE_WAITING_BYTES } from "./limits.ts";

/** The stream on its way from the reader to the keeper, bounded: a slow keeper slows the agent, a gone one does not. */
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

  /** Nobody takes anything any more. */
  giveUp(): void {
    this.#isGivenUp = true;
    this.#chunks.length = 0;
    this.#wakeReader?.();
  }

  /** The first lines, which stay in the body. */
  async start(): Promise<Uint8Array> {
    for (;;) {
      const start = Buffer.concat(this.#chunks);
      const lines = start.reduce((count, byte) => (byte === 10 ? count + 1 : count), 0);
      if (this.#isOver || lines >= PIPE_START_LINES || start.length >= PIPE_START_BYTES) return start;
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
