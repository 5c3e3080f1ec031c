/** Where calls of all transports come together: the credential still holds, what is refused leaves a line, everything is counted. */

import {
  isProblem,
  type Json,
  type Leases,
  may,
  type Problem,
  problem,
  StreamProblem,
} from "@blockyard/kernel";
import type { Auth, Caller } from "../access/auth.ts";
import type { Quotas } from "../access/quotas.ts";
import { JSON_PIECE_CHARS } from "../system/limits.ts";
import type { Log } from "../system/log.ts";
import type { Metrics } from "../system/metrics.ts";
import { isWithin, slicedJson } from "../system/sliced-json.ts";
import { isStreamed, resting, type ToolAnswer } from "../system/streamed-answer.ts";
import type { CallScheduler } from "./call-scheduler.ts";
import { CALLER_REST_MS, INGEST_BYTES } from "./limits.ts";
import type { Tools } from "./tool-table.ts";

interface GatewayParts {
  readonly auth: Auth;
  readonly tools: Tools;
  readonly leases: Leases;
  readonly metrics: Metrics;
  readonly log: Log;
  readonly scheduler: CallScheduler;
  readonly quotas: Quotas;
}

export class CallGateway {
  readonly #auth: Auth;
  readonly #tools: Tools;
  readonly #leases: Leases;
  readonly #metrics: Metrics;
  readonly #log: Log;
  readonly #scheduler: CallScheduler;
  readonly #quotas: Quotas;

  constructor({ auth, tools, leases, metrics, log, scheduler, quotas }: GatewayParts) {
    this.#auth = auth;
    this.#tools = tools;
    this.#leases = leases;
    this.#metrics = metrics;
    this.#log = log;
    this.#scheduler = scheduler;
    this.#quotas = quotas;
  }

  /** Calls by agents and viewers that are queued or running. */
  get pending(): number {
    return this.#scheduler.pending;
  }

  async call(
    caller: Caller,
    tool: string,
    input: unknown,
    key?: string,
    signal?: AbortSignal,
  ): Promise<ToolAnswer> {
    this.#metrics.count("blockyard_calls_total");
    const work = () => this.#run(caller, tool, input, key, signal);
    const answer = await this.#scheduler.run(caller, work, { signal });
    if (isStreamed(answer)) return { stream: resting(answer.stream, () => this.rest(caller)) };
    if (isProblem(answer)) {
      this.#metrics.count("blockyard_problems_total");
      if (answer.problem === "busy") this.#quotas.turnedAway(caller);
    }
    return answer;
  }

  /** It may have waited: the conditions of its arrival may have changed. */
  async #run(
    caller: Caller,
    tool: string,
    input: unknown,
    key: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ToolAnswer> {
    const ended = this.#ended(caller);
    if (ended) return ended;
    // The guard lets none of them come here; should it ever err, a cookie that other servers get too still calls nothing.
    if (caller.by === "cookie") return problem("forbidden", "a cookie alone cannot call tools");
    if (may(caller.role, "present")) await this.#leases.hold(caller.agent);
    const full = this.#tools.writes(tool) ? this.#quotas.mayStore(caller) : undefined;
    return full ?? this.#tools.call(caller, tool, input, key, signal);
  }

  #ended(caller: Caller): Problem | undefined {
    return this.#auth.isCurrent(caller) ? undefined : problem("forbidden", "this token was revoked");
  }

  /** Why a caller may store nothing now: what let it in has ended, or it has stored enough. */
  mayStore(caller: Caller): Problem | undefined {
    return this.#ended(caller) ?? this.#quotas.mayStore(caller);
  }

  /** The same before an input is read: a caller without access is refused without it. */
  callBytes(caller: Caller, tool: string): number | Problem {
    const bytes = this.#tools.callBytes(caller, tool);
    if (isProblem(bytes)) this.checked(caller, bytes);
    return bytes;
  }

  /** For transports that do not check what they send. */
  async audited(...call: Parameters<CallGateway["call"]>): Promise<ToolAnswer> {
    return this.checked(call[0], await this.call(...call));
  }

  /** A caller's stream, piece by piece when its turns come, as long as its quota lasts. */
  async *paced(caller: Caller, body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    const most = caller.role === "owner" ? Number.POSITIVE_INFINITY : INGEST_BYTES;
    for await (const piece of body)
      for (let at = 0; at < piece.length; at += most) {
        await this.rest(caller);
        const full = this.mayStore(caller);
        if (full) throw new StreamProblem(full);
        const taken = piece.subarray(at, at + most);
        this.#quotas.kept(caller, taken.length);
        yield taken;
      }
  }

  /** Raw data, within its caller's quota. */
  async kept<T>(caller: Caller, bytes: number, keep: () => Promise<T | Problem>): Promise<T | Problem> {
    const full = this.mayStore(caller);
    if (full) return full;
    const kept = await keep();
    if (!isProblem(kept)) this.#quotas.kept(caller, bytes);
    return kept;
  }

  /** A long answer to an agent or viewer as JSON, encoded in pieces, each when its turn comes. Others are encoded at once. */
  async sliced(caller: Caller, answer: Json | Problem): Promise<Buffer | undefined> {
    if (caller.role === "owner" || isWithin(answer, JSON_PIECE_CHARS)) return undefined;
    const made = await this.#scheduler.run(caller, (turn) => slicedJson(answer, turn), { isNext: true });
    return isProblem(made) ? undefined : made;
  }

  /** Until it is a caller's turn. */
  async rest(caller: Caller): Promise<void> {
    while (isProblem(await this.#scheduler.run(caller, async () => undefined)))
      await new Promise((look) => setTimeout(look, CALLER_REST_MS).unref());
  }

  /** The result of a caller's stream; a stream that had to be ended answers with the reason. */
  async streamed(caller: Caller, work: Promise<Json | Problem>): Promise<Json | Problem> {
    try {
      return this.checked(caller, await work);
    } catch (error) {
      if (!(error instanceof StreamProblem)) throw error;
      return error.problem;
    }
  }

  checked<T>(caller: Caller, answer: T): T {
    if (isProblem(answer) && answer.problem === "forbidden") this.audit(caller, answer.message);
    return answer;
  }

  /** The same, if only a refusal is to be answered. */
  refusedWith(caller: Caller, refused: Problem | undefined): Problem | undefined {
    if (refused) this.audit(caller, refused.message);
    return refused;
  }

  audit({ agent, role }: Caller, why: string): void {
    this.#metrics.count("blockyard_refused_total");
    this.#log("warn", "refused", { status: 403, why, agent, role });
  }
}
