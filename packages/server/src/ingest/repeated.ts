/**
 * Whether a stream is one that its conversation has already: an export in the provider's own lines, or a stream that is sent again.
 * Stored once more, every block and every cost in it would be there twice.
 *
 * Lines decide, not the first of them: two runs of one session may begin with the same words. So a stream is held back as long as
 * it says what an earlier run said, line for line, and goes on with the first line that is new.
 */

import { type Kernel, type Problem, problem } from "@blockyard/kernel";
import { REPEATED_LEAST_LINES, REPEATED_LINES, REPEATED_PLACES, REPEATED_RUNS } from "./limits.ts";
import type { StreamHead } from "./stream-head.ts";

type Held = Pick<StreamHead, "chunks" | "rest">;

/** The stream from its beginning on, or why it is not stored. */
export async function repeatedIn(
  kernel: Kernel,
  conversations: readonly string[],
  head: Held,
): Promise<Held | Problem> {
  const runs: Run[] = [];
  for (const conversation of conversations.slice(0, REPEATED_PLACES))
    runs.push(...(await earlier(kernel, conversation)));
  const alike = new Alike(runs);
  const chunks = [...head.chunks];
  for (const chunk of head.chunks) alike.push(chunk);
  while (alike.state === "open") {
    const next = await head.rest.next();
    if (next.done) alike.end();
    else {
      chunks.push(next.value);
      alike.push(next.value);
    }
  }
  if (alike.state === "new") return { chunks, rest: head.rest };
  const conversation = alike.conversation ?? "";
  return problem("conflict", `conversation ${conversation} has this stream already: nothing was stored`, {
    conversation,
    repeated: true,
  });
}

interface Run {
  readonly conversation: string;
  readonly lines: readonly string[];
}

/** The first lines of the last runs, and of the first one, with which an export begins. */
async function earlier({ store }: Kernel, conversation: string): Promise<readonly Run[]> {
  const runs = await store.rawRuns(conversation);
  const found: Run[] = [];
  for (const run of new Set([...runs.slice(0, 1), ...runs.slice(-REPEATED_RUNS)])) {
    const text = Buffer.from(await store.raw({ conversation, run })).toString("utf8");
    found.push({ conversation, lines: text.split("\n", REPEATED_LINES).flatMap(said) });
  }
  return found;
}

/** A line as it counts: empty ones, and the ends of others, do not. */
function said(line: string): readonly string[] {
  const text = line.replace(/\r$/, "");
  return text === "" ? [] : [text];
}

/** The earlier runs that a stream repeats so far. */
class Alike {
  readonly #decoder = new TextDecoder();
  #runs: readonly Run[];
  #lines = 0;
  /** Of the line that is not whole yet. */
  #begun: string[] = [];
  state: "open" | "new" | "repeated" = "open";

  constructor(runs: readonly Run[]) {
    this.#runs = runs.filter(({ lines }) => lines.length > 0);
    if (this.#runs.length === 0) this.state = "new";
  }

  /** That of a run which is still the same. */
  get conversation(): string | undefined {
    return this.#runs[0]?.conversation;
  }

  push(chunk: Uint8Array): void {
    const [first = "", ...lines] = this.#decoder.decode(chunk, { stream: true }).split("\n");
    this.#begun.push(first);
    for (const line of lines) {
      this.#take(this.#begun.join(""));
      this.#begun = [line];
    }
  }

  /** What has ended without a new word was said before; of nothing, nothing can be told. */
  end(): void {
    this.#take(this.#begun.join(""));
    if (this.state === "open") this.state = this.#lines === 0 ? "new" : "repeated";
  }

  #take(written: string): void {
    if (this.state !== "open") return;
    for (const line of said(written)) {
      this.#runs = this.#runs.filter(({ lines }) => lines[this.#lines] === line);
      this.#lines++;
    }
    if (this.#runs.length === 0) this.state = "new";
    else if (
      this.#lines >= REPEATED_LEAST_LINES &&
      this.#runs.some(({ lines }) => lines.length === this.#lines)
    )
      this.state = "repeated";
  }
}
