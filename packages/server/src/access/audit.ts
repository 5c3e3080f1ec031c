/**
 * Writes actions that run code, grant rights or let someone in to the audit log before they happen: who, when, with which
 * credential, and what. What cannot be logged is not done.
 */

import type { AuditLog, Block, Kernel } from "@blockyard/kernel";
import { isProblem, type JsonObject, type Problem, problem, StoreError } from "@blockyard/kernel/plain";
import type { Log } from "../system/log.ts";
import type { Caller } from "./auth.ts";
import { AUDIT_TEXT_CHARS } from "./limits.ts";

/** Who does something: a caller, a command of this machine, or the server itself. */
type Doer = Pick<Caller, "agent" | "role" | "session"> & { readonly by: string };

export class Audit {
  readonly #entries: AuditLog;
  readonly #log: Log;

  constructor(entries: AuditLog, log: Log) {
    this.#entries = entries;
    this.#log = log;
  }

  /** The entry's id; `once` is a proof that allows one deed. */
  async record(doer: Doer, action: string, details: JsonObject, once?: string): Promise<number | Problem> {
    const { agent, role, by, session } = doer;
    const about = shortened(session === undefined ? details : { ...details, session });
    try {
      const id = await this.#entries.append(
        { at: Date.now(), agent, role, by, action, details: about },
        once,
      );
      return id ?? problem("forbidden", "this proof was already used");
    } catch (error) {
      this.#log("error", "the audit log cannot be written", { action, error: String(error) });
      const why = error instanceof StoreError ? `: ${error.message}` : "";
      return problem("storage", `${action} was not done: the audit log cannot be written${why}`);
    }
  }

  /** The action of an entry was refused after all. */
  async refused(
    doer: Doer,
    action: string,
    details: JsonObject,
    entry: number,
    { problem: code }: Problem,
  ): Promise<void> {
    const { refused: _refused, entry: _entry, ...about } = details;
    // First, where no number of details cuts them off.
    await this.record(doer, action, { refused: code, entry, ...about });
  }
}

/** The subject of a call: its fields, and the effects of the block that it names. */
export async function aboutCall(kernel: Kernel, input: unknown): Promise<JsonObject> {
  const fields = (typeof input === "object" && input !== null ? input : {}) as JsonObject;
  const { confirmation: _, ...about } = fields;
  const id = fields["block_id"];
  const block = typeof id === "string" ? await kernel.block(id) : undefined;
  return block === undefined || isProblem(block) ? about : { ...about, ...subject(block) };
}

function subject({ metadata }: Block): JsonObject {
  const { command, toolName, path } = metadata;
  return {
    ...(command === undefined ? {} : { command }),
    ...(toolName === undefined ? {} : { tool: toolName }),
    ...(path === undefined ? {} : { path }),
  };
}

/** Long texts are cut, and nested values are stored as text: an entry is for people to read. */
function shortened(details: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(details)
      .slice(0, 20)
      .map(([key, value]) => {
        const text = typeof value === "object" && value !== null ? JSON.stringify(value) : value;
        return [key.slice(0, 80), typeof text === "string" ? text.slice(0, AUDIT_TEXT_CHARS) : text];
      }),
  );
}
