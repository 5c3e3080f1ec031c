/**
 * The turn writer: applies the turn events of one batch to a draft. A stream starts, changes and ends only its own turns; the
 * one that the caller has opened counts as its first.
 *
 * Blocks are written by event-writer.ts.
 */

import { addUsage, begunTurn, type MessageUsage, NO_USAGE, type Turn } from "../model/conversation.ts";
import type { BlockEvent } from "../model/event.ts";
import type { AgentId, BlockId } from "../model/ids.ts";
import { sameJson } from "../model/json.ts";
import { limits } from "../model/limits.ts";
import type { Draft } from "../write/draft.ts";
import type { IngestOptions, Place } from "./place.ts";

export class TurnWriter {
  /** Changed turns, after the batch. */
  readonly changed = new Map<string, Turn>();
  readonly #draft: Draft;
  readonly #options: IngestOptions;
  readonly #before: ReadonlyMap<string, Turn>;
  /** Shared with the event writer: it holds the current turn. */
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
      // The caller did not know the model and session when it opened the turn.
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
      this.#place.turn = undefined; // someone else's turn: these blocks belong to none
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
    if (this.#place.usageDue === turn.id) this.#place.usageDue = undefined;
    const ended = {
      ...begunTurn(turn),
      // We time our own runs, unless the provider states a duration.
      ...(this.#options.turn === undefined ? {} : { durationMs: endedAt - turn.startedAt }),
      ...rest,
      endedAt,
      ...(model === undefined ? {} : { model }),
    };
    // An earlier import may have been cut off: the last end counts, and an equal one is not written again.
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
    // Written with the next change of the turn, to avoid one op per message.
    const told = { ...turn, messages: { ...turn.messages, [event.messageId]: usage } };
    this.changed.set(turn.id, told);
    this.#keepUsage(told);
  }

  /** Nothing has been written for a while, as when the agent waits for an answer: what is due is written now. */
  usageDue(): void {
    const { usageDue } = this.#place;
    const turn = usageDue === undefined ? undefined : this.#turn(usageDue);
    if (turn) this.#writeUsage(turn);
  }

  /** Writes a turn's usage now and then, so that it is known if the process is killed. */
  #keepUsage(turn: Turn): void {
    const { at, usageAt = turn.startedAt } = this.#place;
    if (at !== undefined || turn.status !== "running") return;
    this.#place.usageDue = turn.id;
    if (this.#draft.at - usageAt >= limits.turnUsageMs) this.#writeUsage(turn);
  }

  #writeUsage({ messages = {}, ...turn }: Turn): void {
    this.#place.usageDue = undefined;
    const kept = this.#draft.turn(turn.id) ?? turn;
    // Others may have ended it.
    if (kept.status !== "running") return;
    this.#place.usageAt = this.#draft.at;
    const used = Object.values(messages).map(({ usage }) => usage);
    this.#draft.setTurn({ ...kept, usage: used.reduce(addUsage, NO_USAGE) });
  }

  #nameOf(turn: string): string {
    return turn === this.#place.alias ? (this.#options.turn ?? turn) : turn;
  }

  /** Undefined for someone else's turn. */
  #turn(id: string): Turn | undefined {
    const turn = this.changed.get(id) ?? this.#before.get(id) ?? this.#draft.turn(id);
    return turn === undefined || id === this.#options.turn || this.#isOwn(turn) ? turn : undefined;
  }

  #isOwn({ agent, startedBy }: Turn): boolean {
    return agent === this.#options.agent && startedBy === this.#startedBy;
  }

  /** Turns that the agent starts by itself belong to the run of the caller's turn. */
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
 * The requested model may be an alias ("sonnet"): the messages have its full name, or, if there are none (as after `/compact`), the end
 * of the turn.
 */
function answeringModel({ model, messages = {} }: Turn, named: readonly string[] = []): string | undefined {
  const sent = Object.values(messages).flatMap((each) =>
    each.parent === undefined && each.model !== undefined && !each.model.startsWith("<") ? [each.model] : [],
  );
  const answered = sent.length > 0 ? sent : named;
  return model !== undefined && answered.includes(model) ? model : (answered[0] ?? model);
}
