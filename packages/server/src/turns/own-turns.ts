/**
 * Turns that an agent begins by itself, after a requested one: a background command has ended, or the agent had set an
 * alarm. Each is opened as soon as nothing else runs in its conversation; if a message came first, the agent reports in
 * that message's turn.
 */

import { type AgentId, type ConversationId, isProblem, type Kernel, randomName } from "@blockyard/kernel";
import type { Driver } from "./driver.ts";
import { modeIn } from "./mode.ts";
import type { TurnRequest } from "./run.ts";
import type { Queued } from "./steering.ts";
import { chosenIn } from "./switched.ts";
import { ALONE } from "./turn-opener.ts";

interface OwnTurnsOptions {
  readonly kernel: Kernel;
  readonly drivers: readonly Driver[];
  /** Nothing can begin there now; `next` is called when that may have changed. */
  readonly isBusy: (conversation: ConversationId) => boolean;
  readonly begin: (queued: Queued, driver: Driver) => Promise<unknown>;
}

export class OwnTurns {
  readonly #options: OwnTurnsOptions;
  /** Agents that are awake and have no turn yet. */
  readonly #awake = new Map<ConversationId, { readonly driver: Driver; readonly by: AgentId }>();

  constructor(options: OwnTurnsOptions) {
    this.#options = options;
    for (const driver of options.drivers)
      driver.onWake?.((conversation, by) => {
        this.#awake.set(conversation, { driver, by });
        this.next(conversation);
      });
  }

  next(conversation: ConversationId): void {
    const { kernel, isBusy } = this.#options;
    const awake = this.#awake.get(conversation);
    if (awake === undefined || isBusy(conversation)) return;
    this.#awake.delete(conversation);
    this.#begin(conversation, awake.driver, awake.by).catch((error) => kernel.onFault(error));
  }

  async #begin(conversation: ConversationId, driver: Driver, by: AgentId): Promise<void> {
    const { kernel, isBusy, begin } = this.#options;
    const record = await kernel.conversation(conversation);
    if (isProblem(record) || isBusy(conversation) || !driver.isAwake?.(conversation)) return;
    const { cwd } = record.metadata;
    const mode = modeIn(record.metadata);
    const turns = await kernel.turns(conversation);
    const last = isProblem(turns) ? undefined : turns.at(-1);
    const request: TurnRequest = {
      ...{ conversation, provider: driver.provider, prompt: "" },
      ...(cwd === undefined ? {} : { cwd }),
      ...(mode === undefined ? {} : { mode }),
      // Its process still has what was chosen for the turn before.
      ...(last?.provider === driver.provider ? chosenIn(record.metadata, last) : {}),
    };
    const begun = await begin({ id: `turn-${randomName(kernel.env, 8)}`, request, by, isOwn: true }, driver);
    if (begun === ALONE) return driver.close?.(conversation);
    // It could not begin, since another node has a turn there: it begins when that is over.
    if (driver.isAwake?.(conversation)) this.#awake.set(conversation, { driver, by });
  }
}
