/**
 * What a loop writes: the blocks of one turn, over all the messages that it takes. Adapters know one message as one turn,
 * and a loop has many of them in one, so their turns are joined here: blocks get the turn's name, usage is counted once a
 * message, and there is one end.
 *
 * Everything goes through the kernel's ingest, in the order in which it was pushed.
 */

import {
  addUsage,
  type BlockEvent,
  type BlockId,
  type BlockKey,
  type Draft,
  Ingest,
  type Json,
  type JsonObject,
  type Kernel,
  NO_USAGE,
  type Problem,
  patiently,
  problem,
  type Reason,
  randomName,
  type Usage,
} from "@blockyard/kernel";
import type { EventRedactor } from "../../ingest/event-redactor.ts";
import { fenced } from "../../ingest/fence.ts";
import { keepPictures } from "../../ingest/kept-pictures.ts";
import { RawLines } from "../../ingest/raw-lines.ts";
import type { Secrets } from "../../ingest/secrets.ts";
import type { TurnStart } from "../run.ts";

export interface TurnOutcome {
  readonly status: "done" | "error";
  readonly reason?: Reason | undefined;
  readonly stopReason?: string | undefined;
  readonly error?: string | undefined;
}

interface Said {
  readonly text: string;
  readonly metadata: JsonObject;
}

export class Writing {
  /** Prefixes the keys of this run's blocks. */
  readonly run: string;
  readonly #kernel: Kernel;
  readonly #start: TurnStart;
  readonly #ingest: Ingest;
  readonly #began: number;
  readonly #usage = new Map<string, Usage>();
  /** An answer was cut before it was counted. */
  #isUncounted = false;
  readonly #models = new Set<string>();
  #last: BlockKey | undefined;
  #own = 0;
  readonly #raw: RawLines;
  readonly #redactor: EventRedactor | undefined;
  #pushing: Promise<void> = Promise.resolve();
  /** What could not be written, however long it was held. */
  #lost: Problem | undefined;
  #isEnded = false;

  constructor(kernel: Kernel, start: TurnStart, secrets?: Secrets) {
    this.#kernel = kernel;
    this.#redactor = secrets?.redactor(start.id);
    this.#start = start;
    this.run = randomName(kernel.env, 8);
    this.#began = kernel.env.monotonic();
    const { conversation, provider } = start.request;
    this.#raw = new RawLines(kernel, { conversation, run: this.run });
    this.#ingest = new Ingest(fenced(kernel, start.id), {
      conversation,
      agent: provider,
      turn: start.id,
      parent: start.prompt,
    });
  }

  /** Waits for a store that is away. */
  open(): Promise<Problem | undefined> {
    return patiently(this.#kernel.env, () => this.#ingest.open());
  }

  /**
   * An adapter's events, or a tool's, in the order in which they came. The end of an adapter's turn is not this turn's.
   * Never rejects, since not everybody waits for it: what is lost is told by `drain` and `end`.
   */
  push(events: readonly BlockEvent[]): Promise<void> {
    const joined = events.flatMap((event) => this.#joined(event));
    this.#pushing = this.#pushing.then(() => this.#pushNow(joined)).catch((error) => this.#lose(error));
    return this.#pushing;
  }

  async #pushNow(events: readonly BlockEvent[]): Promise<void> {
    const kept = await keepPictures(this.#kernel, events);
    this.#lost ??= await this.#ingest.push(this.#redactor?.take(kept) ?? kept);
  }

  /** A bug: the turn ends with it, and nothing else does. */
  #lose(error: unknown): void {
    this.#lost ??= problem("unavailable", `the agent's output could not be written: ${String(error)}`);
  }

  /** Told beside the conversation: for people, not for the model. */
  notice(notice: string, said: Said): Promise<void> {
    return this.#whole(
      { kind: "text", role: "system", text: said.text, metadata: { notice, ...said.metadata } },
      true,
    );
  }

  error(said: Said): Promise<void> {
    return this.#whole({ kind: "error", role: "system", ...said }, false);
  }

  /** Keeps what the provider really said, beside the blocks: not where it may hold pieces of secrets. */
  async keep(event: Json): Promise<void> {
    if (this.#redactor) return;
    this.#raw.add(JSON.stringify(event));
    if (this.#raw.isDue) await this.#flushRaw();
  }

  /** Everything pushed so far is durable. */
  async drain(): Promise<Problem | undefined> {
    await this.#flushRaw();
    await this.#pushing;
    this.#lost ??= await this.#ingest.drain();
    return this.#lost;
  }

  idOf(key: BlockKey): BlockId | undefined {
    return this.#ingest.idOf(key);
  }

  /** Where the turn stands: the last block that goes on from the prompt. Settle first. */
  get head(): BlockId {
    return (this.#last === undefined ? undefined : this.#ingest.idOf(this.#last)) ?? this.#start.prompt;
  }

  /** Takes blocks out of the context: what a message said that was cut and is asked for again. Settle first. */
  async prune(keys: readonly BlockKey[]): Promise<void> {
    const ids = keys.flatMap((key) => this.#ingest.idOf(key) ?? []);
    const { conversation, provider } = this.#start.request;
    const prune = (draft: Draft) => {
      for (const id of ids) draft.prune(id, true);
      return null;
    };
    await patiently(this.#kernel.env, () =>
      this.#kernel.write(conversation, { agent: provider, plan: prune }),
    );
  }

  /** The end of the turn, once, and of everything that is still open. */
  async end({ status, reason, stopReason, error }: TurnOutcome): Promise<Problem | undefined> {
    await this.#pushing;
    if (!this.#isEnded) {
      this.#isEnded = true;
      const durationMs = Math.max(0, Math.round(this.#kernel.env.monotonic() - this.#began));
      const usage = [...this.#usage.values()].reduce(addUsage, NO_USAGE);
      await this.#pushNow([
        {
          type: "turn-end",
          turn: this.#start.id,
          status,
          durationMs,
          ...(reason === undefined ? {} : { reason }),
          ...(stopReason === undefined ? {} : { stopReason }),
          ...(error === undefined ? {} : { error }),
          ...(this.#usage.size === 0 ? {} : { usage }),
          ...(this.#isUncounted ? { uncounted: true as const } : {}),
          ...(this.#models.size === 0 ? {} : { models: [...this.#models] }),
        },
      ]);
      await this.#ingest.push(this.#redactor?.end() ?? []);
    }
    await this.#flushRaw();
    const failed = await this.#ingest.finish();
    return this.#lost ?? failed;
  }

  #joined(event: BlockEvent): readonly BlockEvent[] {
    const turn = this.#start.id;
    if (event.type === "turn-end") {
      this.#isUncounted ||= event.uncounted === true;
      return [];
    }
    if (event.type === "turn-start") {
      if (event.model !== undefined) this.#models.add(event.model);
      return [{ ...event, turn }];
    }
    if (event.type === "message-usage") {
      this.#usage.set(event.messageId, event.usage);
      return [{ ...event, turn }];
    }
    if (event.type !== "block-start") return [event];
    if (event.parent === undefined) this.#last = event.key;
    return [{ ...event, metadata: { ...event.metadata, turn } }];
  }

  #whole(
    block: Pick<BlockEvent & { type: "block-start" }, "kind" | "role" | "metadata"> & { text: string },
    isAside: boolean,
  ): Promise<void> {
    const key = `${this.run}/own/${this.#own++}`;
    const parent = isAside ? { parent: this.#last ?? this.run } : {};
    const failed = block.kind === "error";
    return this.push([
      { type: "block-start", key, ...parent, ...block },
      failed
        ? { type: "block-end", key, status: "error", reason: "failed" }
        : { type: "block-end", key, status: "done" },
    ]);
  }

  async #flushRaw(): Promise<void> {
    const lost = await this.#raw.flush();
    this.#lost ??= lost;
  }
}
