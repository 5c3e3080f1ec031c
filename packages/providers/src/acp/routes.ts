/**
 * Assigns the lines of an ACP connection to sessions. One connection may have several sessions, and each is a separate
 * conversation: a session's lines begin with the shared lines before it (who the agent is), and sub-agents belong to
 * their starter.
 *
 * Pure, like an adapter: records of traffic in, their sessions out. Lines of no session are dropped.
 */

import type { Json, JsonObject } from "@blockyard/kernel";
import { isObject, parseText } from "../framing/json.ts";
import { bounds } from "../limits.ts";
import { objectOf, wordsOf } from "../read.ts";
import { readTraffic } from "../traffic.ts";
import { idOf } from "./state.ts";

export interface Routed {
  readonly session: string;
  /** Records, as they are kept. */
  readonly lines: readonly string[];
  /** A replay of what was said before. */
  readonly isHistory: boolean;
}

interface Pending {
  readonly method: string;
  readonly line: string;
  readonly session: string | undefined;
}

export class SessionRoutes {
  /** What every session begins with. */
  readonly #prelude: string[] = [];
  readonly #pending = new Map<string, Pending>();
  readonly #opened = new Set<string>();
  readonly #parents = new Map<string, string>();
  /** Sessions whose history is being replayed. */
  readonly #replaying = new Set<string>();
  /** The name that the agent gives itself. */
  agent: string | undefined;

  take(line: string): Routed | undefined {
    const record = readTraffic(parseText(line) ?? null);
    const message = record?.message;
    if (record === undefined || !isObject(message)) return undefined;
    if (typeof message.method !== "string") return this.#answer(record.dir, message, line);
    const params = objectOf(message.params);
    const named = wordsOf(params.sessionId);
    const session = named === undefined ? undefined : this.#rootOf(named);
    if (message.id !== undefined)
      this.#ask(`${record.dir} ${idOf(message.id)}`, message.method, line, session);
    if (session === undefined) return undefined;
    this.#noteChild(session, objectOf(params.update));
    const isHistory = this.#replaying.has(session) && message.method === "session/update";
    return this.#routed(session, [line], isHistory);
  }

  #ask(key: string, method: string, line: string, session: string | undefined): void {
    this.#pending.set(key, { method, line, session });
    for (const oldest of this.#pending.keys()) {
      if (this.#pending.size <= bounds.openCalls) break;
      this.#pending.delete(oldest);
    }
    if (method === "session/load" && session !== undefined) this.#replaying.add(session);
  }

  #answer(dir: "in" | "out", message: JsonObject, line: string): Routed | undefined {
    const key = `${dir === "in" ? "out" : "in"} ${idOf(message.id)}`;
    const request = this.#pending.get(key);
    this.#pending.delete(key);
    if (request === undefined) return undefined;
    const { method, session } = request;
    if (method === "initialize") {
      this.#prelude.push(request.line, line);
      this.agent = wordsOf(objectOf(objectOf(message.result).agentInfo).name);
      return undefined;
    }
    if (session !== undefined) {
      this.#replaying.delete(session);
      return this.#routed(session, [line], false);
    }
    const made = wordsOf(objectOf(message.result as Json | undefined).sessionId);
    return made === undefined ? undefined : this.#routed(made, [request.line, line], false);
  }

  #routed(session: string, lines: readonly string[], isHistory: boolean): Routed {
    if (this.#opened.has(session)) return { session, lines, isHistory };
    this.#opened.add(session);
    return { session, lines: [...this.#prelude, ...lines], isHistory };
  }

  #noteChild(session: string, update: JsonObject): void {
    const child = update.sessionUpdate === "subagent_update" ? wordsOf(update.sessionId) : undefined;
    if (child !== undefined && child !== session) this.#parents.set(child, session);
  }

  #rootOf(session: string): string {
    return this.#parents.get(session) ?? session;
  }
}
