/** Where calls of all transports come together: the credential still holds, what is refused leaves a line, everything is counted. */

import { isProblem, type Json, type Leases, type Problem, problem } from "@blockyard/kernel";
import type { Auth, Caller } from "./auth.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";
import type { Tools } from "./tool-table.ts";

export class CallGateway {
  readonly #auth: Auth;
  readonly #tools: Tools;
  readonly #leases: Leases;
  readonly #metrics: Metrics;
  readonly #log: Log;

  constructor(auth: Auth, tools: Tools, leases: Leases, metrics: Metrics, log: Log) {
    this.#auth = auth;
    this.#tools = tools;
    this.#leases = leases;
    this.#metrics = metrics;
    this.#log = log;
  }

  async call(
    caller: Caller,
    tool: string,
    input: unknown,
    key?: string,
    signal?: AbortSignal,
  ): Promise<Json | Problem> {
    this.#metrics.count("blockyard_calls_total");
    const isCurrent = this.#auth.isCurrent(caller);
    if (isCurrent && caller.role !== "viewer") await this.#leases.hold(caller.agent);
    const answer = isCurrent
      ? await this.#tools.call(caller, tool, input, key, signal)
      : problem("forbidden", "this token has been taken back");
    if (isProblem(answer)) this.#metrics.count("blockyard_problems_total");
    return answer;
  }

  /** The same before an input is read: who may not call is refused without it. */
  callBytes(caller: Caller, tool: string): number | Problem {
    const bytes = this.#tools.callBytes(caller, tool);
    if (isProblem(bytes)) this.checked(caller, bytes);
    return bytes;
  }

  /** For faces that do not look at what they send. */
  async audited(...call: Parameters<CallGateway["call"]>): Promise<Json | Problem> {
    return this.checked(call[0], await this.call(...call));
  }

  checked(caller: Caller, answer: Json | Problem): Json | Problem {
    if (isProblem(answer) && answer.problem === "forbidden") this.audit(caller, answer.message);
    return answer;
  }

  /** The same, where nothing but a refusal is to be answered. */
  refusedWith(caller: Caller, refused: Problem | undefined): Problem | undefined {
    if (refused) this.audit(caller, refused.message);
    return refused;
  }

  audit({ agent, role }: Caller, why: string): void {
    this.#metrics.count("blockyard_refused_total");
    this.#log("warn", "refused", { status: 403, why, agent, role });
  }
}
