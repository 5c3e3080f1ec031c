/**
 * Ends a turn whose run did not end it, and says so in the conversation: once each, however often the store must be retried.
 */

import {
  type AgentId,
  type Draft,
  isProblem,
  type JsonObject,
  type Kernel,
  type Problem,
  type Reason,
  randomName,
} from "@blockyard/kernel";
import type { Secrets } from "../ingest/secrets.ts";
import type { RunEnd, TurnRequest, TurnStart } from "./run.ts";

type Patiently = <T>(run: () => Promise<T | Problem>) => Promise<T | Problem>;

export class TurnEnd {
  readonly #kernel: Kernel;
  readonly #patiently: Patiently;
  /** Takes secrets out of what an agent has said last. */
  readonly #secrets: Secrets | undefined;

  /** `patiently`: of a turn that is over nothing may be left open because the store was away at that moment. */
  constructor(kernel: Kernel, patiently: Patiently, secrets?: Secrets) {
    this.#kernel = kernel;
    this.#secrets = secrets;
    this.#patiently = patiently;
  }

  /** Ends the turn if the run has not; says what became of the run where that explains it. */
  async settle(start: TurnStart, { error, reason, isExpected }: RunEnd): Promise<void> {
    const turns = await this.#patiently(() => this.#kernel.turns(start.request.conversation));
    const isOpen =
      !isProblem(turns) && turns.some(({ id, status }) => id === start.id && status === "running");
    if (isOpen) await this.fail(start, error, reason);
    else if (!isExpected) await this.show(start, error);
  }

  async fail(start: TurnStart, said: string, reason: Reason = "failed"): Promise<void> {
    const error = this.#secrets?.clean(said) ?? said;
    const end = (draft: Draft) => {
      const turn = draft.turn(start.id);
      if (turn?.status !== "running") return null;
      const { node: _node, orders: _orders, ...rest } = turn;
      draft.setTurn({ ...rest, status: "error", reason, error, endedAt: draft.at });
      return null;
    };
    await this.#patiently(() =>
      this.#kernel.write(start.request.conversation, { agent: start.by, plan: end }),
    );
    if (reason !== "cancelled") await this.show(start, error);
  }

  async show(
    { id, request, by }: { readonly id: string; readonly request: TurnRequest; readonly by: AgentId },
    said: string,
    more: JsonObject = {},
  ): Promise<void> {
    const text = this.#secrets?.clean(said) ?? said;
    const metadata = { turn: id, code: "agent", ...more };
    const key = `shown-${id}-${randomName(this.#kernel.env, 6)}`; // once, however often it is tried
    await this.#patiently(() =>
      this.#kernel.write(request.conversation, {
        agent: by,
        key,
        plan: (draft) =>
          draft.create({ kind: "error", role: "system", status: "error", text, side: true, metadata }),
      }),
    );
  }
}
