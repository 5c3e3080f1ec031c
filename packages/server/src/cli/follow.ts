/**
 * A conversation followed block by block, over block.sync: the same tool for a server and for a database opened here. One
 * block at a time is shown while it grows; what others write meanwhile is shown when it is whole, and the line of a call that takes
 * long while it runs.
 */

import type { BlockPatch, BlockSnapshot } from "@blockyard/kernel";
import { isProblem } from "@blockyard/kernel/plain";
import { askOf, cameWords, deedOf, withShortPaths } from "@blockyard/kernel/presentation";
import { type BlockSource, known } from "./block-source.ts";
import { blockText, callLine, type TextOptions } from "./block-text.ts";
import { FOLLOW_MS, FOLLOWED_CALLS, LONG_CALL_MS } from "./limits.ts";
import { oneLine, safeText } from "./terminal.ts";

export interface FollowerPort {
  readonly text: TextOptions;
  /** Where the agent works: paths in it are shown without it. */
  readonly folder?: string | undefined;
  /** A monotonic clock. */
  readonly now?: () => number;
  /** Shows a piece of text. */
  show(text: string): Promise<void>;
  /** Called with every block that has ended, once. */
  ended(block: BlockSnapshot): Promise<void>;
  /** Called with every ask, once. Returns whether it was put to somebody here, with what belongs to it, such as a plan. */
  asked(block: BlockSnapshot): Promise<boolean>;
  /** Called with a queued message that is not sent, because the turn before it was stopped. */
  held?(block: BlockSnapshot): Promise<void>;
}

export class Follower {
  readonly #client: BlockSource;
  readonly #conversation: string;
  readonly #port: FollowerPort;
  /** Blocks that have not ended. */
  readonly #open = new Map<string, BlockSnapshot>();
  readonly #asked = new Set<string>();
  /** Calls whose ask was put to somebody here. */
  readonly #put = new Set<string>();
  /** The context of such a call, until the answer is known: it may have been edited for the answer. */
  readonly #waiting = new Set<string>();
  /** The last calls that have ended: their results may come later. */
  readonly #calls = new Map<string, BlockSnapshot>();
  /** Calls whose line is shown, and that have not ended. */
  readonly #headed = new Set<string>();
  /** When each call that runs was first seen. */
  readonly #since = new Map<string, number>();
  /** Calls whose line was shown because they take long, without results so far. */
  readonly #early = new Set<string>();
  /** The one of them that is the last line. */
  #last: string | undefined;
  #seq: number;
  /** The blocks of the last change: a call's result may be among them, and states more exactly what was run. */
  #arriving: readonly BlockSnapshot[] = [];
  /** The block that is shown while it grows, and how much of it is shown. */
  #growing: { readonly id: string; shown: string } | undefined;

  /** `since`: earlier blocks are not shown. */
  constructor(client: BlockSource, conversation: string, since: number, port: FollowerPort) {
    this.#client = client;
    this.#seq = since;
    this.#conversation = conversation;
    this.#port = port;
  }

  /** Shows the existing blocks. */
  async begin(blocks: readonly BlockSnapshot[]): Promise<void> {
    for (const block of blocks) await this.#take(block);
  }

  /** Waits for news and shows them. Whether there were none. */
  async step(waitMs = FOLLOW_MS): Promise<boolean> {
    const versions = [...this.#open.values()].map(({ block_id, version }) => ({ block_id, version }));
    const answer = await this.#client.call("block.sync", {
      conversation: this.#conversation,
      since_seq: this.#seq,
      versions: versions.slice(0, 500),
      wait_ms: waitMs,
    });
    if (isProblem(answer) && answer.problem === "busy") return false;
    const { patches, new_blocks, seq } = known(answer);
    this.#seq = seq ?? this.#seq;
    this.#arriving = new_blocks;
    // Continued blocks first: a denied call shows that before its result and the rest appear below it.
    for (const patch of patches) {
      const block = this.#open.get(patch.block_id);
      if (block) await this.#take(patched(block, patch));
    }
    await this.#release();
    for (const block of new_blocks) await this.#take(block);
    await this.#showLong();
    return patches.length === 0 && new_blocks.length === 0;
  }

  /** Ends an unfinished line if the next text is not part of it. */
  async endLine(): Promise<void> {
    if ((this.#growing?.shown ?? "") !== "") await this.#print("\n");
    this.#growing = undefined;
  }

  /** Calls that have run for a while are shown, so that a long silence is explained. */
  async #showLong(): Promise<void> {
    if (this.#growing !== undefined) return;
    const now = (this.#port.now ?? (() => performance.now()))();
    for (const call of this.#open.values()) {
      const { block_id: id, metadata } = call;
      const isRunning = call.kind === "tool_call" && metadata.stage === "running";
      if (!isRunning || this.#headed.has(id) || askOf(metadata)?.state === "asked") continue;
      const since = this.#since.get(id) ?? now;
      this.#since.set(id, since);
      if (now - since < LONG_CALL_MS) continue;
      this.#headed.add(id);
      this.#early.add(id);
      await this.#show(`${callLine(this.#shortened(call), this.#port.text, this.#resultsOf(call), true)}\n`);
      this.#last = id;
    }
  }

  async #take(block: BlockSnapshot): Promise<void> {
    this.#open.set(block.block_id, block);
    const ask = askOf(block.metadata);
    // Together with its block: another stream can send an ask of the same name.
    const request = `${block.block_id} ${ask?.id}`;
    if (ask?.state === "asked" && !this.#asked.has(request)) {
      this.#asked.add(request);
      if (await this.#port.asked(block)) this.#put.add(block.block_id);
    }
    if (!isEnded(block) && block.metadata.queued?.held !== undefined) return this.#port.held?.(block);
    if (this.#isUnanswered(block.parent_id)) return void this.#waiting.add(block.block_id);
    if (!isEnded(block)) return this.#grow(block);
    await this.#end(block);
  }

  async #end(block: BlockSnapshot): Promise<void> {
    this.#open.delete(block.block_id);
    this.#waiting.delete(block.block_id);
    this.#since.delete(block.block_id);
    await this.#finish(block);
    if (block.kind === "tool_call") this.#remember(block);
    await this.#port.ended(block);
  }

  /** It was put to somebody here, and what was read since does not contradict it. */
  #isUnanswered(call: string | null): boolean {
    if (call === null || !this.#put.has(call)) return false;
    const block = this.#open.get(call);
    return block !== undefined && askOf(block.metadata)?.state === "asked";
  }

  async #release(): Promise<void> {
    for (const id of [...this.#waiting]) {
      const block = this.#open.get(id);
      if (block === undefined || this.#isUnanswered(block.parent_id)) continue;
      this.#waiting.delete(id);
      if (isEnded(block)) await this.#end(block);
      else await this.#grow(block);
    }
  }

  #remember(call: BlockSnapshot): void {
    this.#calls.set(call.block_id, call);
    const [oldest] = this.#calls.keys();
    if (this.#calls.size > FOLLOWED_CALLS && oldest !== undefined) this.#calls.delete(oldest);
  }

  async #grow(block: BlockSnapshot): Promise<void> {
    if (block.kind !== "text" || block.role !== "model" || block.side) return;
    this.#growing ??= { id: block.block_id, shown: "" };
    if (this.#growing.id !== block.block_id) return;
    const { shown } = this.#growing;
    if (!block.content.startsWith(shown)) return;
    await this.#print(safeText(block.content.slice(shown.length)));
    this.#growing.shown = block.content;
  }

  /** A result goes below its call: if the call has not ended yet, its line comes first. */
  async #head(block: BlockSnapshot): Promise<void> {
    const call = block.parent_id === null ? undefined : this.#open.get(block.parent_id);
    if (call?.kind !== "tool_call") return;
    this.#forgetEarly(call.block_id);
    if (this.#headed.has(call.block_id)) return;
    this.#headed.add(call.block_id);
    await this.#show(`${callLine(this.#shortened(call), this.#port.text, [block], true)}\n`);
  }

  /** An early line only counts if nothing is below it. Returns whether it does. */
  #forgetEarly(call: string): boolean {
    if (!this.#early.delete(call)) return false;
    if (this.#last !== call) this.#headed.delete(call);
    return this.#last === call;
  }

  #resultsOf({ block_id }: BlockSnapshot): readonly BlockSnapshot[] {
    return [...this.#open.values(), ...this.#arriving].filter(({ parent_id }) => parent_id === block_id);
  }

  #shortened(block: BlockSnapshot): BlockSnapshot {
    return { ...block, metadata: withShortPaths(block.metadata, this.#port.folder) };
  }

  /** For a call whose line is above its results already, only a failure is news. */
  #ending(block: BlockSnapshot): string {
    const isEarly = this.#forgetEarly(block.block_id);
    if (!this.#headed.delete(block.block_id)) {
      const parent = block.parent_id ?? "";
      const call = this.#open.get(parent) ?? this.#calls.get(parent);
      if (call !== undefined && !this.#port.text.isFull && isAnswerTold(call, block)) return "";
      if (block.kind === "tool_call")
        return `${callLine(this.#shortened(block), this.#port.text, this.#resultsOf(block), true)}\n`;
      return blockText(this.#shortened(block), this.#port.text, call);
    }
    const { success, reason } = block.metadata;
    const isFine = block.status === "done" && success !== false;
    const results = this.#resultsOf(block);
    const isBare = isEarly && isFine && results.length === 0;
    const came = isBare ? cameWords(this.#shortened(block), results) : undefined;
    const { style, width } = this.#port.text;
    if (came !== undefined) return `  ${style.dim(oneLine(came, width - 2))}\n`;
    return isFine ? "" : `  ${style.red(String(reason ?? "failed"))}\n`;
  }

  async #show(whole: string): Promise<void> {
    // Ends another block's unfinished line first.
    const isInside = this.#growing !== undefined && this.#growing.shown !== "" && whole !== "";
    await this.#print(isInside ? `\n${whole}` : whole);
  }

  #print(text: string): Promise<void> {
    if (text !== "") this.#last = undefined;
    return this.#port.show(text);
  }

  async #finish(block: BlockSnapshot): Promise<void> {
    if (this.#growing?.id !== block.block_id) {
      await this.#head(block);
      return this.#show(this.#ending(block));
    }
    const { shown } = this.#growing;
    this.#growing = undefined;
    const rest = block.content.startsWith(shown) ? block.content.slice(shown.length) : `\n${block.content}`;
    await this.#print(`${safeText(rest)}\n\n`);
  }
}

function isEnded({ status }: BlockSnapshot): boolean {
  return status === "done" || status === "error";
}

/** The answer that the agent was given, which the call's line shows. */
function isAnswerTold(call: BlockSnapshot, { kind, status }: BlockSnapshot): boolean {
  const { toolName = "" } = call.metadata;
  return kind === "tool_result" && status === "done" && deedOf(String(toolName)) === "ask";
}

function patched(block: BlockSnapshot, patch: BlockPatch): BlockSnapshot {
  let content = patch.keep === undefined ? block.content : block.content.slice(0, patch.keep);
  for (const { at, delete_count, insert } of patch.splices) {
    content = content.slice(0, at) + insert + content.slice(at + delete_count);
  }
  const { version, seq, status, pruned } = patch;
  return { ...block, content, version, seq, status, pruned, metadata: patch.metadata ?? block.metadata };
}
