/**
 * Random inputs of the tools that change a text: mostly good ones for the text that is given, which may be an old one by
 * the time they are applied.
 */
import type { BlockId, Json } from "@blockyard/kernel";
import { createTwoFilesPatch } from "diff";
import type { Random } from "./random.ts";

export interface ToolInput {
  readonly tool: string;
  readonly input: Json;
}

export interface Target {
  readonly block: BlockId;
  /** The text that the caller has read, and its version. */
  readonly text: string;
  readonly version: number;
}

/** Lines as the tools count them: a final newline opens no line. */
export function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** A batch of line operations that do not overlap; now and then with the text that is expected there. */
export function lineEdit(random: Random, { block, text, version }: Target): ToolInput {
  const lines = linesOf(text);
  const operations: Json[] = [];
  let from = 0;
  for (let count = random.between(1, 3); count > 0; count--) {
    const start = random.between(from, lines.length);
    const end = Math.min(lines.length, start + random.below(3));
    from = end + 1;
    const expected = random.chance(0.4) ? { expected_text: lines.slice(start, end).join("\n") } : {};
    const content = random.text(random.between(1, 4));
    if (end === start) operations.push({ op: "insert", line: start, content });
    else if (random.chance(0.3))
      operations.push({ op: "delete", start_line: start, end_line: end, ...expected });
    else operations.push({ op: "replace", start_line: start, end_line: end, content, ...expected });
    if (from > lines.length) break;
  }
  const base = random.chance(0.5) && version > 0 ? { base_version: version } : {};
  return { tool: "block.edit", input: { block_id: block, operations, ...base } };
}

/** One change by bytes. */
export function byteSplice(random: Random, { block, text, version }: Target): ToolInput {
  const { at, end } = random.range(text, 6);
  const bytes = (part: string) => new TextEncoder().encode(part).length;
  const base = random.chance(0.5) && version > 0 ? { base_version: version } : {};
  const input = {
    block_id: block,
    offset: bytes(text.slice(0, at)),
    delete_count: bytes(text.slice(at, end)),
    insert: random.text(random.below(3)),
    ...base,
  };
  return { tool: "block.splice", input };
}

/** A diff from the text that was read to one with a changed line. */
export function patch(random: Random, { block, text }: Target): ToolInput {
  const { at, end } = random.range(text, 12);
  const next = text.slice(0, at) + random.text(2) + text.slice(end);
  const context = { context: random.between(0, 3) };
  return {
    tool: "block.apply_patch",
    input: { block_id: block, patch: createTwoFilesPatch("a", "b", text, next, "", "", context) },
  };
}
