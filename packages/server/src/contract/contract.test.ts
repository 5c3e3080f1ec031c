/** The types of tools: the served tools match what callers know, and a wrong call does not compile. */

import type { Problem } from "@blockyard/kernel";
import { expectTypeOf, it } from "vitest";
import type { ServedCalls } from "../app/tool-table.ts";
import type { CallServer, ServerCalls, ToolAnswer } from "./index.ts";

type Flat<T> = { [Key in keyof T]: T[Key] };

declare const call: CallServer;

it("[T69] the server has the tools that its callers know, with the same inputs and answers", () => {
  expectTypeOf<keyof ServedCalls>().toEqualTypeOf<keyof ServerCalls>();
  expectTypeOf<Flat<ServedCalls>>().toEqualTypeOf<Flat<ServerCalls>>();
});

it("[T69] an answer has the type of the tool's schema", () => {
  expectTypeOf<ToolAnswer<"block.read">["content"]>().toEqualTypeOf<string>();
  expectTypeOf<ToolAnswer<"block.read">>().toExtend<{ readonly truncated: boolean }>();
  expectTypeOf<ToolAnswer<"turn.stop">>().toEqualTypeOf<{
    readonly stopped: number;
    readonly dropped: number;
    readonly held: number;
  }>();
  expectTypeOf<ToolAnswer<"file.list">["entries"][number]["type"]>().toEqualTypeOf<
    "file" | "folder" | "link" | "other"
  >();
});

/** Never runs: each line below must be refused by the compiler, or `npm run check` fails. */
export async function mustNotCompile(): Promise<void> {
  // @ts-expect-error there is no such tool
  await call("block.reed", { block_id: "c/a/1" });
  // @ts-expect-error a field is misspelt
  await call("block.read", { block: "c/a/1" });
  // @ts-expect-error a field is missing
  await call("block.read", {});
  // @ts-expect-error a field has another type
  await call("block.read", { block_id: 1 });
  // @ts-expect-error no such kind of block
  await call("block.create", { conversation: "c", role: "model", kind: "txt" });
  // @ts-expect-error a tool of the server, with a wrong choice
  await call("file.resolve", { path: "a", take: "theirs" });
  // @ts-expect-error what streams is followed, not called
  await call("block.subscribe", { conversation: "c" });
  const read = await call("block.read", { block_id: "c/a/1" });
  // @ts-expect-error a problem must be looked for first
  read.content;
  const stopped = (await call("turn.stop", { conversation: "c" })) as Exclude<
    ToolAnswer<"turn.stop">,
    Problem
  >;
  // @ts-expect-error the answer has no such field
  stopped.content;
  // @ts-expect-error answers are not changed
  stopped.held = 1;
}
