/**
 * The block tools of the one tool table, for the model of a loop, which calls them as the agent that it is: with an
 * agent's rights, under its own name, with its own undo.
 */

import { isProblem, type Json, type JsonObject, type Problem, type ToolSchema } from "@blockyard/kernel";
import { rowOf } from "@blockyard/providers";
import { failed, type LoopTool, plain } from "./tool.ts";

/** `permitted`: guarded files that the owner has allowed to this call. */
export type CallTable = (
  name: string,
  input: unknown,
  permitted: readonly string[],
) => Promise<Json | Problem>;

export function blockTools(schemas: readonly ToolSchema[], call: CallTable): readonly LoopTool[] {
  return schemas
    .filter(({ name, streams }) => !streams && (name.startsWith("block.") || name === "kernel.search"))
    .map(({ name, modelName, description, input }) => ({
      name: modelName,
      description,
      input: withoutDialect(input),
      parse: (given) => ({ input: given }), // the table checks its own
      async run(given, { permitted }) {
        const answer = await call(name, given, permitted);
        if (isProblem(answer)) return failed(answer);
        const text = JSON.stringify(answer, null, 1);
        return plain(text, rowOf(text.replace(/\s+/g, " ")));
      },
    }));
}

function withoutDialect(schema: Json): JsonObject {
  const { $schema: _, ...rest } = schema as { readonly [key: string]: Json };
  return rest;
}
