/**
 * The turn writer: what the events of one batch say about turns, applied to one draft. A stream starts, changes and ends its
 * own turns and nobody else's; the one that the caller has opened counts as its first.
 *
 * It writes no blocks: that is event-writer.ts.
 */

import { addUsage, begunTurn, type MessageUsage, NO_USAGE, type Turn } from "../model/conversation.ts";
import type { BlockEvent } from "../model/event.ts";
import type { AgentId, BlockId } from "../model/ids.ts";
import { sameJson } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import type { Draft } from "../write/draft.ts";
import type { IngestOptions, Place } from "./place.ts";

export class TurnWriter {
  /** Turns as they stand after the batch, those that have changed. */
  readonly changed = new Map<string, Turn>();
  readonly #draft: Draft;
  readonly #options: IngestOptions;
  readonly #before: ReadonlyMap<string, Turn>;
  /** The event writer's own: which turn the next blocks are of is said there. */
  readonly #place: Place;

  constructor(draft: Draft, options: IngestOptions, before: ReadonlyMap<string, Turn>, place: Place) {
    this.#draft = draft;
    this.#options = options;
    this.#before = before;
    this.#place = place;
  }

  start(event: BlockEvent & { type: "turn-start" }): void {
    const { provider, model, sessionId, at } = event;
    this.#place.turn = this.#nameOf(event.turn);
    const open = this.#turn(this.#place.turn);
    if (open) {
      // Who opened it could not know what it would run with.
      const isNew = (open.model ?? model) !== open.model || (open.sessionId ?? sessionId) !== open.sessionId;
      if (isNew)
        this.#setTurn({
          ...open,
          ...(model === undefined || open.model !== undefined ? {} : { model }),
          ...(sessionId === undefined || open.sessionId !== undefined ? {} : { sessionId }),
        });
      return;
    }
    if (this.#draft.turn(event.turn) !== undefined) {
      this.#place.turn = undefined; // somebody else's: its blocks are of no turn
      return;
    }
    const startedBy = this.#startedBy;
    this.#setTurn({
      ...{ id: event.turn, provider, agent: this.#options.agent, status: "running" },
      startedAt: at ?? this.#draft.at,
      ...(startedBy === undefined ? {} : { startedBy }),
      ...(model === undefined ? {} : { model }),
      ...(sessionId === undefined ? {} : { sessionId }),
    });
  }

  end(event: BlockEvent & { type: "turn-end" }): void {
    const turn = this.#turn(this.#nameOf(event.turn));
    if (!turn || (turn.status !== "running" && !this.#options.keep)) return;
    const { type: _type, turn: _turn, models, at, ...rest } = event;
    const endedAt = at ?? this.#draft.at;
    const model = answeringModel(turn, models);
    this.#place.turn = undefined;
    const ended = {
      ...begunTurn(turn),
      // A run of ours is timed here where its provider does not say how long it took.
      ...(this.#options.turn === undefined ? {} : { durationMs: endedAt - turn.startedAt }),
      ...rest,
      endedAt,
      ...(model === undefined ? {} : { model }),
    };
    // What was imported before may have been cut: the end that is told last counts, and one that says the same is no news.
    const known = turn.status === "running" ? undefined : this.#draft.turn(turn.id);
    if (known === undefined || !sameJson(known, ended)) this.#setTurn(ended);
  }

  /** `parent`: the call whose sub-agent sent the message. */
  usage(event: BlockEvent & { type: "message-usage" }, parent: BlockId | undefined): void {
    const id = event.turn === undefined ? this.#place.turn : this.#nameOf(event.turn);
    const turn = id === undefined ? undefined : this.#turn(id);
    if (!turn) return;
    const usage: MessageUsage = {
      usage: event.usage,
      ...(event.model === undefined ? {} : { model: event.model }),
      ...(parent === undefined ? {} : { parent }),
    };
    // Written with the turn's end, or with whatever changes the turn next: a turn is one op, not one per message.
    const told = { ...turn, messages: { ...turn.messages, [event.messageId]: usage } };
    this.changed.set(turn.id, told);
    this.#keepUsage(told);
  }

  /** Now and then, what a turn has used so far, so that it is known where its process is killed. */
  #keepUsage({ messages = {}, ...turn }: Turn): void {
    const { at, usageAt = turn.startedAt } = this.#place;
    if (at !== undefined || turn.status !== "running" || this.#draft.at - usageAt < limits.turnUsageMs)
      return;
    this.#place.usageAt = this.#draft.at;
    const used = Object.values(messages).map(({ usage }) => usage);
    const kept = this.#draft.turn(turn.id) ?? turn;
    this.#draft.setTurn({ ...kept, usage: used.reduce(addUsage, NO_USAGE) });
  }

  #nameOf(turn: string): string {
    return turn === this.#place.alias ? (this.#options.turn ?? turn) : turn;
  }

  /** Undefined also for one that somebody else runs: a stream ends and changes its own turns. */
  #turn(id: string): Turn | undefined {
    const turn = this.changed.get(id) ?? this.#before.get(id) ?? this.#draft.turn(id);
    return turn === undefined || id === this.#options.turn || this.#isOwn(turn) ? turn : undefined;
  }

  #isOwn({ agent, startedBy }: Turn): boolean {
    return agent === this.#options.agent && startedBy === this.#startedBy;
  }

  /** Of the turn that the caller has opened. What the agent begins by itself behind it is of the same run. */
  get #startedBy(): AgentId | undefined {
    const { turn } = this.#options;
    return turn === undefined ? undefined : this.#draft.turn(turn)?.startedBy;
  }

  #setTurn(turn: Turn): void {
    this.changed.set(turn.id, turn);
    this.#draft.setTurn(turn);
  }
}

/**
 * Who asked for a model may have used another name for it ("sonnet"): its messages have the name that counts, or, where it has sent none
 * (a command such as `/compact`), the end of its turn.
 */
function answeringModel({ model, messages = {} }: Turn, named: readonly string[] = []): string | undefined {
  const sent = Object.values(messages).flatMap((each) =>
    each.parent === undefined && each.model !== undefined && !each.model.startsWith("<") ? [each.model] : [],
  );
  const answered = sent.length > 0 ? sent : named;
  return model !== undefined && answered.includes(model) ? model : (answered[0] ?? model);
}
