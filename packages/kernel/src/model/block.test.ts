/** The types of blocks: a block has its kind's metadata, and any other key does not compile. */
import { expectTypeOf, it } from "vitest";
import { type Block, type BlockOf, withMetadata } from "./block.ts";
import type { JsonObject } from "./json.ts";
import type { Kind } from "./kind.ts";
import type { Metadata } from "./metadata.ts";

it("[K82] a block of one kind has the metadata of that kind", () => {
  expectTypeOf<BlockOf<"tool_call">["metadata"]["toolUseId"]>().toEqualTypeOf<string>();
  expectTypeOf<BlockOf<"command">["metadata"]["exitCode"]>().toEqualTypeOf<number | null | undefined>();
  expectTypeOf<BlockOf<"text">["metadata"]["toolUseId"]>().toEqualTypeOf<undefined>();
  expectTypeOf<Block["kind"]>().toEqualTypeOf<Kind>();
});

it("[K82] of a block of any kind, a key is what some kind says, or not there", () => {
  expectTypeOf<Block["metadata"]["toolUseId"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Block["metadata"]["turn"]>().toEqualTypeOf<string | undefined>();
  expectTypeOf<Metadata<Kind>>().toExtend<JsonObject>();
});

/** Never runs: each line below must be refused by the compiler, or `npm run check` fails. */
export function mustNotCompile(block: Block): void {
  // @ts-expect-error no kind has such a key
  block.metadata.toolUseID;
  // @ts-expect-error only some kinds have it
  block.metadata.toolUseId.length;
  if (block.kind === "tool_call") block.metadata.toolUseId.length;
  // @ts-expect-error a command has no stage
  if (block.kind === "command") block.metadata.stage.length;
  // @ts-expect-error what is read is not changed
  block.metadata.turn = "t";
  // @ts-expect-error no such kind
  if (block.kind === "tool_calls") return;
  // @ts-expect-error a block is not made by hand: its metadata may be another kind's
  const other: Block = { ...block, kind: "file" };
  withMetadata(other, {});
}
