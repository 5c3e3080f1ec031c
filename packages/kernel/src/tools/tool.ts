/**
 * What a tool is, and what it receives. The same definition serves models (MCP), people (web), programs (HTTP,
 * WebSocket) and the command line: one schema, one implementation. No transport here.
 *
 * JSON of the tools is snake_case; metadata keeps the keys that its kind defines. Schemas are module constants:
 * building one costs more than a call.
 */

import { z } from "zod";
import type { Block } from "../model/block.ts";
import type { ConversationMetadata } from "../model/conversation.ts";
import type { AgentId } from "../model/ids.ts";
import type { Json } from "../model/json.ts";
import { KINDS, ROLES, STATUSES } from "../model/kind.ts";
import { limits } from "../model/limits.ts";
import { type Problem, problem } from "../model/problem.ts";
import type { Matcher } from "../search/search.ts";
import type { Cursors } from "../write/cursors.ts";
import type { Kernel } from "../write/kernel.ts";
import type { Access, CallerRole } from "./access.ts";
import type { Answer } from "./calls.ts";

/** The caller, as its credential says; nothing in a request can change it. */
export interface Caller {
  readonly agent: AgentId;
  readonly role: CallerRole;
}

/** The part of an AbortSignal that is needed. */
export interface Signal {
  readonly aborted: boolean;
  addEventListener(type: "abort", listener: () => void): void;
  removeEventListener(type: "abort", listener: () => void): void;
}

/** What block.create needs of the workspace: a new file under the checks of file.open. */
export interface FilePort {
  /** `conflict` if the file exists and content was given: existing content is never replaced. */
  create(caller: Caller, path: string, content: string | undefined): Promise<Block | Problem>;
}

export interface Call {
  readonly kernel: Kernel;
  readonly caller: Caller;
  /** Idempotency: a write sent again with the same key is answered again and applied once. */
  readonly key?: string;
  readonly matcher: Matcher;
  readonly cursors: Cursors;
  readonly signal?: Signal;
  /** Opens files of the workspace, where the server has one. */
  readonly files?: FilePort;
  /** Receives a bug inside a tool; its caller only gets that the tool failed. */
  readonly onFault?: (tool: string, error: unknown) => void;
}

/** A tool's name, input and output: all that a caller needs to know of it. */
interface Contract<
  Name extends string = string,
  In extends z.ZodType = z.ZodType,
  Out extends z.ZodType = z.ZodType,
> {
  readonly name: Name;
  readonly input: In;
  /** Of the structured answer; of one item, where the tool streams. */
  readonly output: Out;
}

/** Schemas of a tool without its implementation, for callers that must not see that. */
export function contract<const Name extends string, In extends z.ZodType, Out extends z.ZodType>(
  definition: Contract<Name, In, Out>,
): Contract<Name, In, Out> {
  return definition;
}

export interface Tool<
  Name extends string = string,
  In extends z.ZodType = z.ZodType,
  Out extends z.ZodType = z.ZodType,
  Answered = unknown,
> extends Contract<Name, In, Out> {
  /** For a model: what it does, what the numbers mean. */
  readonly description: string;
  readonly access: Access;
  /** A right input, for a model whose input has the wrong shape. */
  readonly example?: Json;
  /**
   * Whether a call runs code, or grants or revokes rights: it is logged before it runs, and a page proves that its user
   * has just confirmed exactly this.
   */
  readonly sensitive?: (input: unknown, kernel: Kernel) => boolean | Promise<boolean>;
  /** The answer is `{ stream }`, an async iterable of items. */
  readonly streams?: true;
  /** Its input contains texts or metadata and may be long. Every other tool's is short. */
  readonly carriesText?: true;
  /** It only adds to the caller's stream; every other tool waits until that is written. */
  readonly streamsIn?: true;
  run(call: Call, input: z.output<In>): Promise<Answered | Problem>;
}

export interface Streamed<T> {
  readonly stream: AsyncIterable<T>;
}

/** Gives a tool the types of its schemas: `run` gets the parsed input, and returns what the output schema says. */
export function tool<const Name extends string, In extends z.ZodType, Out extends z.ZodType>(
  definition: Tool<Name, In, Out, Answer<Out>>,
): Tool<Name, In, Out, Answer<Out>> {
  return definition;
}

/** The same for a tool that answers with a stream of items. */
export function streamTool<const Name extends string, In extends z.ZodType, Out extends z.ZodType>(
  definition: Omit<Tool<Name, In, Out, Streamed<Answer<Out>>>, "streams">,
): Tool<Name, In, Out, Streamed<Answer<Out>>> & { readonly streams: true } {
  return { ...definition, streams: true };
}

/** Spread into a write: the agent of the caller, and the key if there is one. */
export function writer({ caller, key }: Call): { readonly agent: AgentId; readonly key?: string } {
  return key === undefined ? { agent: caller.agent } : { agent: caller.agent, key };
}

/** An agent decides over its own blocks alone; their text is everybody's. */
export function mayDecide({ caller }: Call, block: Block): Problem | undefined {
  if (caller.role === "owner" || block.agent === caller.agent) return undefined;
  return problem(
    "forbidden",
    `block ${block.id} belongs to ${block.agent}: ${caller.agent} may edit its text, not its status, metadata or place`,
    { block_id: block.id, agent: block.agent, caller: caller.agent },
  );
}

/**
 * Only an agent's own run and the owner's answer write these, and no call: a caller that could would approve for the
 * owner.
 */
export function mayWrite(metadata: Readonly<Record<string, unknown>> | undefined): Problem | undefined {
  if (metadata?.notice === "queued")
    return problem("forbidden", 'the notice "queued" is reserved for messages that turn.start queues', {
      field: "metadata.notice",
    });
  if (metadata !== undefined && "lapsed" in metadata)
    return problem("forbidden", "metadata.lapsed is set only when an agent's lease expires", {
      field: "metadata.lapsed",
    });
  if (metadata?.queued !== undefined)
    return problem("forbidden", "metadata.queued is set only by turn.start", {
      field: "metadata.queued",
    });
  if (metadata?.told !== undefined)
    return problem("forbidden", "metadata.told is set only by the turn that informs an agent", {
      field: "metadata.told",
    });
  const asked = ["ask", "approval"].find((name) => metadata !== undefined && name in metadata);
  if (asked === undefined) return undefined;
  return problem("forbidden", `metadata.${asked} is set only by the turn that asks and by turn.answer`, {
    field: `metadata.${asked}`,
  });
}

// ---------------------------------------------------------------------------------------------------------------------
// Fields that several tools have

export const blockIdField = z
  .string()
  .min(1)
  .max(200)
  .describe("Block id as other tools print it: conversation/agent/number");

export const conversationField = z.string().min(1).max(80).describe("Conversation id");

export const lineField = z.number().int().min(0).max(1e9);
export const versionField = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
export const textField = z.string().max(limits.writeTextChars);
export const kindField = z.enum(KINDS);
export const roleField = z.enum(ROLES);
export const statusField = z.enum(STATUSES);
/** Any JSON: input is sanitized before it is checked, output was. */
export const jsonField = z.unknown() as z.ZodType<Json>;
export const metadataField = z.record(z.string(), jsonField);
/** Conversation metadata: known keys have their type, whatever the source. */
export const conversationMetadataField = z
  .object({
    cwd: z.string().exactOptional(),
    version: z.string().exactOptional(),
    mode: z.string().exactOptional(),
    archived: z.boolean().exactOptional(),
    recorded: z.boolean().exactOptional(),
    titled: z.enum(["prompt", "provider"]).exactOptional(),
  })
  .catchall(jsonField) satisfies z.ZodType<ConversationMetadata>;

export function rowsField(most: number, usual: number): z.ZodDefault<z.ZodNumber> {
  return z.number().int().min(1).max(most).default(usual);
}
