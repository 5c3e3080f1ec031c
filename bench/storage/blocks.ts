/**
 * The texts that storage is measured with: answers of a model, token by token, and the flushes into which the kernel's rule
 * gathers them. The same for every way of storing them.
 */
import { existsSync, statSync } from "node:fs";
import { limits } from "@blockyard/kernel";
import { seeded, tokens } from "../corpus/prose.ts";

export const SEED = 20261;
export const TOKENS_PER_BLOCK = 500;

export function makeBlocks(count: number): string[][] {
  const source = seeded(SEED);
  return Array.from({ length: count }, () => {
    const answer = tokens(source);
    return Array.from({ length: TOKENS_PER_BLOCK }, () => answer.next().value as string);
  });
}

/** One flush: a newline, or more than `appendFlushChars`; what is left at the end. */
export function flushesOf(block: readonly string[]): string[] {
  const flushes: string[] = [];
  let text = "";
  for (const token of block) {
    text += token;
    if (!token.includes("\n") && text.length <= limits.appendFlushChars) continue;
    flushes.push(text);
    text = "";
  }
  if (text !== "") flushes.push(text);
  return flushes;
}

export function bytesOf(blocks: readonly string[][]): number {
  return blocks.reduce((sum, block) => sum + Buffer.byteLength(block.join("")), 0);
}

export function sizeOf(path: string): number {
  return existsSync(path) ? statSync(path).size : 0;
}
