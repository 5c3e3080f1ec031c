/**
 * A tool call, from any transport: found by name, checked, run, answered. Everything that can be wrong with a call is a
 * problem; no input of a caller makes this throw.
 *
 * In order: the tool exists, the caller may call it, the input is plain JSON of bounded depth, it fits the schema. A
 * transport that reads an input asks `callBytes` first, and reads no more than that.
 */

import { z } from "zod";
import { cleanJson, type Json, jsonText } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import { type Problem, problem } from "../model/problem.ts";
import { type Access, may } from "./access.ts";
import { modelName } from "./calls.ts";
import { answerOnce } from "./keyed.ts";
import type { Call, Caller, Tool } from "./tool.ts";

export interface ToolTable {
  readonly tools: readonly Tool[];
  /** By its name, or by the name that models know it by. */
  find(name: string): Tool | undefined;
}

export type ToolSchema = {
  readonly name: string;
  /** For transports whose names may hold no dot. */
  readonly modelName: string;
  readonly description: string;
  readonly access: Access;
  readonly streams: boolean;
  readonly carriesText: boolean;
  /** JSON Schema of the input, and of the answer (of one item, where the tool streams). */
  readonly input: Json;
  readonly output: Json;
};

export function makeTable(tools: readonly Tool[]): ToolTable {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    byName.set(tool.name, tool);
    byName.set(modelName(tool.name), tool);
  }
  return { tools, find: (name) => byName.get(name) };
}

const schemas = new WeakMap<ToolTable, readonly ToolSchema[]>();

/** What every transport tells of the tools; made once per table. */
export function schemasOf(table: ToolTable): readonly ToolSchema[] {
  const known = schemas.get(table);
  if (known) return known;
  const made = table.tools.map((tool) => ({
    name: tool.name,
    modelName: modelName(tool.name),
    description: tool.description,
    access: tool.access,
    streams: tool.streams === true,
    carriesText: tool.carriesText === true,
    input: z.toJSONSchema(tool.input, { io: "input" }) as Json,
    output: z.toJSONSchema(tool.output, { io: "output" }) as Json,
  }));
  schemas.set(table, made);
  return made;
}

/** The limit in bytes of JSON for a caller's input of a tool, or why the call would be refused whatever its input. */
export function callBytes(table: ToolTable, caller: Caller, name: string): number | Problem {
  const tool = table.find(name);
  if (tool === undefined) return unknownTool(table, name);
  const refused = mayNot(tool, caller);
  if (refused) return refused;
  if (tool.carriesText !== true) return limits.callBytes;
  return caller.role === "owner" ? limits.ownerCallBytes : limits.textCallBytes;
}

function mayNot({ access, name }: Tool, { agent, role }: Caller): Problem | undefined {
  if (may(role, access)) return undefined;
  const why = access === "owner" ? "is for the owner only" : `writes, but ${agent} may only read`;
  return problem("forbidden", `${name} ${why}`, { tool: name, role });
}

export async function callIn(table: ToolTable, call: Call, name: string, input: unknown): Promise<unknown> {
  const tool = table.find(name);
  if (tool === undefined) return unknownTool(table, name);
  const refused = mayNot(tool, call.caller);
  if (refused) return refused;
  const found = findPolluting(input, limits.jsonDepth);
  if (found !== undefined) return found;
  const clean = cleanJson(input ?? {}, limits.jsonDepth);
  if (clean === undefined) {
    return problem(
      "invalid",
      `the input of ${tool.name} must be JSON nested at most ${limits.jsonDepth} deep`,
      {
        tool: tool.name,
        max_depth: limits.jsonDepth,
      },
    );
  }
  const parsed = tool.input.safeParse(clean);
  if (!parsed.success) return describe(tool, clean, parsed.error.issues);
  // An agent reads its own writes: its streamed text is written first.
  if (tool.streamsIn !== true) await call.kernel.flushed(call.caller.agent);
  return answerOnce(call, tool, parsed.data, () => run(tool, call, parsed.data));
}

async function run(tool: Tool, call: Call, input: unknown): Promise<unknown> {
  try {
    return await tool.run(call, input);
  } catch (error) {
    // The boundary of one call: a bug in it ends the call and nothing else, and its text stays inside.
    call.onFault?.(tool.name, error);
    return problem("unavailable", `${tool.name} failed: internal error, not caused by your input`, {
      tool: tool.name,
    });
  }
}

function unknownTool(table: ToolTable, name: string): Problem {
  const valid = table.tools.map((tool) => tool.name);
  return problem("unknown_tool", `there is no tool ${JSON.stringify(String(name).slice(0, 80))}`, {
    valid_tools: valid,
  });
}

const POLLUTING = new Set(["__proto__", "constructor", "prototype"]);

/** Keys that could reach a prototype are refused by name, not dropped: the caller would not see what became of them. */
function findPolluting(input: unknown, depth: number): Problem | undefined {
  const path = pathTo(input, depth);
  if (path === undefined) return undefined;
  const field = path.join(".").slice(0, 200);
  return problem("invalid", `${field}: a key cannot be named ${path.at(-1)}`, { field });
}

/** The path of such a key, built only if there is one: a large input has many paths. */
function pathTo(value: unknown, depth: number): readonly (string | number)[] | undefined {
  if (typeof value !== "object" || value === null || depth <= 0) return undefined;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const below = pathTo(value[i], depth - 1);
      if (below) return [i, ...below];
    }
    return undefined;
  }
  for (const key of Object.keys(value)) {
    if (POLLUTING.has(key)) return [key];
    const below = pathTo((value as Record<string, unknown>)[key], depth - 1);
    if (below) return [key, ...below];
  }
  return undefined;
}

// ---------------------------------------------------------------------------------------------------------------------
// What does not fit the schema

function describe(tool: Tool, input: Json, issues: readonly z.core.$ZodIssue[]): Problem {
  const first = issues[0] as z.core.$ZodIssue;
  const field = first.path.map(String).join(".");
  const told = issues
    .slice(0, 5)
    .map((issue) => `${issue.path.length > 0 ? `${issue.path.map(String).join(".")}: ` : ""}${issue.message}`)
    .join("; ");
  const numbers = boundOf(first, valueAt(input, first.path));
  const code = numbers && "max_chars" in numbers ? "too_large" : "invalid";
  const right = tool.example && code === "invalid" ? `. Right: ${jsonText(tool.example)}` : "";
  return problem(code, `${tool.name}: ${told.slice(0, 2_000)}${right}`, {
    tool: tool.name,
    ...(field === "" ? {} : { field }),
    ...numbers,
    valid_fields: fieldsAt(tool.input, input, first.path),
  });
}

function boundOf(issue: z.core.$ZodIssue, value: Json | undefined): Record<string, unknown> | undefined {
  if (issue.code === "invalid_value") return { expected: issue.values };
  if (issue.code === "invalid_type") return { expected: issue.expected };
  if (issue.code === "unrecognized_keys") return { unknown_fields: issue.keys.slice(0, 20) };
  if (issue.code === "too_small") return { min: Number(issue.minimum) };
  if (issue.code !== "too_big") return undefined;
  if (typeof value === "string") return { chars: value.length, max_chars: Number(issue.maximum) };
  return { max: Number(issue.maximum) };
}

function valueAt(input: Json, path: readonly PropertyKey[]): Json | undefined {
  let value: unknown = input;
  for (const key of path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
  return value as Json | undefined;
}

/** The fields that the object around `path` may have. */
function fieldsAt(schema: unknown, value: unknown, path: readonly PropertyKey[]): string[] {
  const here = unwrap(schema, value);
  const [key, ...rest] = path;
  const inner = key === undefined ? undefined : (value as Record<PropertyKey, unknown> | undefined)?.[key];
  if (here instanceof z.ZodArray) return key === undefined ? [] : fieldsAt(here.element, inner, rest);
  if (!(here instanceof z.ZodObject)) return [];
  const next = key === undefined ? undefined : unwrap(here.shape[key as string], inner);
  const deeper = next instanceof z.ZodArray || next instanceof z.ZodObject ? fieldsAt(next, inner, rest) : [];
  return deeper.length > 0 ? deeper : Object.keys(here.shape);
}

function unwrap(schema: unknown, value: unknown): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodNullable) {
    return unwrap(schema.unwrap(), value);
  }
  if (schema instanceof z.ZodDiscriminatedUnion) {
    const { discriminator } = schema.def;
    const named = (value as Record<string, unknown> | undefined)?.[discriminator];
    return schema.options.find(
      (option) => option instanceof z.ZodObject && option.shape[discriminator]?.safeParse(named).success,
    );
  }
  return schema;
}
