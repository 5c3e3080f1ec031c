/** Zstandard, for everything that is stored: behind the thread's gate, if the thread can be terminated. */

import { type ZstdOptions, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { ThreadGate } from "./thread-gate.ts";

let gate: ThreadGate | undefined;

/** In a thread that can be ended, before anything else. */
export function useGate(shared: ThreadGate["shared"]): void {
  gate = new ThreadGate(shared);
}

export function zstdCompress(bytes: Uint8Array, options?: ZstdOptions): Buffer {
  const work = () => zstdCompressSync(bytes, options);
  return gate === undefined ? work() : gate.pass(work);
}

export function zstdDecompress(bytes: Uint8Array, options?: ZstdOptions): Buffer {
  const work = () => zstdDecompressSync(bytes, options);
  return gate === undefined ? work() : gate.pass(work);
}
