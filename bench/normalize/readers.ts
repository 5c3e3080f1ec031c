/** How we read an answer into blocks, and the interface of the other libraries (readers.peer.ts). */
import { Fold, Normalizer, providers } from "@blockyard/providers";
import type { Answer } from "./answer.ts";

export interface Reader {
  readonly name: string;
  /** The text that it has read. */
  read(answer: Answer): Promise<string>;
}

/** What readers.peer.ts exports. */
export interface Peer {
  /** Anthropic's SDK, then the AI SDK. */
  readonly others: readonly [Reader, Reader];
  /** Libraries that show a tool's input while it is written: they look at it after each delta. */
  readonly whileWritten: readonly (readonly [name: string, read: ReadWhileWritten])[];
}

export type ReadWhileWritten = (
  deltas: readonly string[],
  eventsOf: (deltas: readonly string[]) => readonly object[],
) => unknown;

export const CHUNK_BYTES = 16 * 1024;

/** Ours: bytes to block events, and those folded into blocks. */
export const ours: Reader = {
  name: "Blockyard",
  async read({ events }) {
    const provider = providers.get("anthropic");
    if (!provider) throw new Error("no provider anthropic");
    const normalizer = new Normalizer(provider);
    const fold = new Fold();
    for (let at = 0; at < events.length; at += CHUNK_BYTES)
      fold.push(normalizer.push(events.subarray(at, at + CHUNK_BYTES)));
    fold.push(normalizer.end());
    const { blocks } = fold.result();
    if (!blocks.some(({ kind }) => kind === "tool_call")) throw new Error("the tool call was not read");
    return blocks.find(({ kind }) => kind === "text")?.text ?? "";
  },
};
