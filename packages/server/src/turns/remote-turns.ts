/**
 * Remote turns: turns that other nodes run on the same store. A request for one of them (stop it, answer its questions)
 * is stored in the turn's record as a command. The node that runs the turn receives it like every commit and executes
 * it, and the conversation shows the result. So the store is the truth, and a lost message loses no command.
 *
 * Commands are in turns because only servers write those: no agent can approve its own requests.
 */

import {
  type AgentId,
  type AskState,
  askOf,
  type BlockId,
  type ConversationId,
  type Draft,
  isProblem,
  type JsonObject,
  type Kernel,
  limits,
  type Problem,
  problem,
  randomName,
  type Turn,
  type TurnCommand,
} from "@blockyard/kernel";
import { readPlan } from "./read-plan.ts";
import type { Given } from "./write-answer.ts";

/** What the owner answers to an ask. */
type OwnerAnswer = NonNullable<TurnCommand["answer"]>;

export class RemoteTurns {
  readonly #kernel: Kernel;
  /** This node. */
  readonly node: string;

  constructor(kernel: Kernel, node: string) {
    this.#kernel = kernel;
    this.node = node;
  }

  /** Whether another node runs it. */
  isRemote({ status, node, orders }: Turn): boolean {
    return status === "running" && orders !== undefined && node !== this.node;
  }

  /** The same of what a draft stands on. */
  runsIn(draft: Draft): boolean {
    return draft.record.running.some((id) => {
      const turn = draft.turn(id);
      return turn !== undefined && this.isRemote(turn);
    });
  }

  async runningIn(conversation: ConversationId): Promise<readonly Turn[] | Problem> {
    const turns = await this.#kernel.turns(conversation);
    return isProblem(turns) ? turns : turns.filter((turn) => this.isRemote(turn));
  }

  /** Stops a turn of another node; how many that were. */
  async stop(by: AgentId, conversation: ConversationId, only?: string): Promise<number | Problem> {
    const running = await this.runningIn(conversation);
    if (isProblem(running)) return running;
    const meant = running.filter(({ id }) => only === undefined || id === only);
    for (const { id, node } of meant) {
      const ordered = await this.#order(by, conversation, id, {});
      if (isProblem(ordered)) return ordered;
      const ended = await this.#until(conversation, async () => {
        const now = await this.runningIn(conversation);
        return isProblem(now) || now.some((turn) => turn.id === id) ? undefined : true;
      });
      if (!ended) return this.#noAnswer(node);
    }
    return meant.length;
  }

  /** Answers what an agent at another node asks. */
  async answer(
    by: AgentId,
    block: BlockId,
    id: string,
    { allow, message, answer: chosen, planVersion }: Given,
  ): Promise<{ state: "allowed" | "denied" | "answered" } | Problem> {
    const said = {
      ...(message === undefined ? {} : { message }),
      ...(chosen ? { answer: chosen } : {}),
      ...(planVersion === undefined ? {} : { planVersion }),
    };
    const answer: OwnerAnswer = { block, ask: id, allow, ...said };
    const call = await this.#kernel.block(block);
    if (isProblem(call)) return call;
    const { conversation, metadata } = call;
    const state = stateOf(metadata, id);
    if (state === undefined) return problem("not_found", `block ${block} has no request ${id}`);
    if (state !== "asked") return answered(state);
    const { plan } = askOf(metadata) ?? {};
    const read =
      plan === undefined || !allow ? undefined : await readPlan(this.#kernel, plan, by, planVersion);
    if (isProblem(read)) return read;
    const running = await this.runningIn(conversation);
    if (isProblem(running)) return running;
    const turn = running.find(({ id }) => id === metadata.turn);
    if (!turn) return problem("gone", "the agent that asked is no longer running");
    const ordered = await this.#order(by, conversation, turn.id, { answer });
    if (isProblem(ordered)) return ordered;
    const after = await this.#until(conversation, async () => {
      const now = await this.#kernel.block(block);
      const said = isProblem(now) ? undefined : stateOf(now.metadata, id);
      return said === "asked" ? undefined : said;
    });
    if (after === undefined) return this.#noAnswer(turn.node);
    if (after === "denied" && !allow) return { state: after };
    if ((after === "allowed" || after === "answered") && allow) return { state: after };
    return answered(after);
  }

  async #order(
    by: AgentId,
    conversation: ConversationId,
    turn: string,
    what: Pick<TurnCommand, "answer">,
  ): Promise<null | Problem> {
    const order: TurnCommand = { id: randomName(this.#kernel.env, 8), by, ...what };
    return this.#kernel.write(conversation, {
      agent: by,
      plan: (draft) => {
        const now = draft.turn(turn);
        if (now?.status !== "running" || now.orders === undefined)
          return problem("gone", "the agent is no longer running");
        if (now.orders.length >= limits.commandsPerTurn)
          return problem("busy", `${now.orders.length} commands are already queued for this turn`);
        draft.setTurn({ ...now, orders: [...now.orders, order] });
        return null;
      },
    });
  }

  /** Waits for what another node brings about; undefined if it does not in time. */
  async #until<T>(conversation: ConversationId, look: () => Promise<T | undefined>): Promise<T | undefined> {
    const unfollow = await this.#kernel.follow(conversation);
    if (isProblem(unfollow)) return undefined;
    let wake: () => void = () => undefined;
    let isLate = false;
    const end = this.#kernel.listen((change) => change.conversation === conversation && wake());
    const cancel = this.#kernel.env.after(limits.commandMs, () => {
      isLate = true;
      wake();
    });
    try {
      for (;;) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const found = await look();
        if (found !== undefined || isLate) return found;
        await changed;
      }
    } finally {
      cancel();
      end();
      unfollow();
    }
  }

  #noAnswer(node: string | undefined): Problem {
    return problem(
      "unavailable",
      `the node that runs this turn did not respond within ${limits.commandMs / 1000} seconds. It will catch up when it is back; if it is gone, the turn ends as interrupted.`,
      { node: node ?? null },
    );
  }
}

function stateOf(metadata: JsonObject, id: string): AskState | undefined {
  const ask = askOf(metadata);
  return ask?.id === id ? ask.state : undefined;
}

function answered(state: string): Problem {
  return problem("conflict", `this request was already ${state}`, { state });
}
