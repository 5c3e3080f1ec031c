/**
 * The types of tool calls: `call("block.read", input)` takes the input of that tool's schema and returns its answer.
 * `CallsOf` turns a table of tools or contracts into a table of types; tables are joined with `&`.
 */

import type { z } from "zod";
import type { Exact, ReadonlyDeep } from "../model/json.ts";
import type { Problem } from "../model/problem.ts";

/** What a tool may answer by its schema, and what its caller gets of that. */
export type Answer<Out extends z.ZodType> = ReadonlyDeep<z.output<Out>>;
export type AnswerOf<Out extends z.ZodType> = Exact<z.output<Out>>;

interface Named {
  readonly name: string;
  readonly input: z.ZodType;
  readonly output: z.ZodType;
}

/** Input and answer by the name of the tool. What streams is not called: it is followed. */
export type CallsOf<Tools extends readonly Named[]> = {
  readonly [Each in Tools[number] as Each extends { readonly streams: true } ? never : Each["name"]]: {
    readonly input: ReadonlyDeep<z.input<Each["input"]>>;
    readonly answer: AnswerOf<Each["output"]>;
  };
};

/** Any table of calls. */
type Calls = Readonly<Record<string, { readonly input: unknown; readonly answer: unknown }>>;

/** Calls a tool by its name, with the types of its schemas. */
export type CallTool<Table extends Calls> = <Name extends keyof Table & string>(
  name: Name,
  input: Table[Name]["input"],
) => Promise<Table[Name]["answer"] | Problem>;

/** A way to call anything, with the types of a table: the other end answers by the schemas that they come from. */
export function typedCalls<Table extends Calls>(
  call: (name: string, input: unknown) => Promise<unknown>,
): CallTool<Table> {
  return call as CallTool<Table>;
}

/** `block.edit` is `block_edit` where names may hold no dot. */
export function modelName(name: string): string {
  return name.replaceAll(".", "_");
}
