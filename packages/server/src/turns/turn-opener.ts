/**
 * Opens turns in the store: writes record and prompt (open-turn.ts), after making sure that a queued message was not taken by someone
 * else. A message that cannot be sent is dropped, and the conversation says why. It starts no agent.
 */

import { type ConversationId, isProblem, type Kernel, type Problem, problem } from "@blockyard/kernel";
import { attachedSizes } from "./attachments.ts";
import { OWN_TURNS } from "./limits.ts";
import { type Freedom, isFree, modeIn } from "./mode.ts";
import { isText, type Opened, openOwnTurn, openTurn } from "./open-turn.ts";
import type { RemoteTurns } from "./remote-turns.ts";
import type { TurnRequest } from "./run.ts";
import type { Queued } from "./steering.ts";
import type { TurnEnd } from "./turn-end.ts";
import { drop } from "./waiting.ts";

/** Not an answer to a caller: the turn waits. */
export const ELSEWHERE = problem("busy", "another node is running a turn in this conversation");

/** An agent goes on by itself, and nobody has said anything for long. */
export const ALONE = problem(
  "busy",
  `The agent continued by itself ${OWN_TURNS} times without a message from you, and was stopped. Send a message to continue.`,
);

export class TurnOpener {
  readonly #kernel: Kernel;
  readonly #end: TurnEnd;
  readonly #remote: RemoteTurns | undefined;
  /** How many turns the agent of a conversation has begun by itself since somebody asked for one. */
  readonly #alone = new Map<ConversationId, number>();

  constructor(kernel: Kernel, end: TurnEnd, remote: RemoteTurns | undefined) {
    this.#kernel = kernel;
    this.#end = end;
    this.#remote = remote;
  }

  /**
   * Opens the turn, unless somebody else has written to the message while it waited: it would be sent in the name of `by`. Where the agent
   * does it without asking, nobody has: what was signed is what is sent.
   */
  async open(queued: Queued): Promise<Opened | Problem> {
    const { request, by, waiting } = queued;
    if (queued.isOwn) return this.#openOwn(queued);
    this.#alone.delete(request.conversation);
    const sizes = await attachedSizes(this.#kernel.store, request.attachments ?? []);
    const isUnasked = waiting !== undefined && isFree(await this.#asHere(request));
    for (;;) {
      const seen = waiting === undefined ? undefined : await this.#kernel.log(waiting, { version: 0 });
      if (isProblem(seen)) return seen;
      const changed = seen?.ops.find((op) => isText(op) && (op.agent !== by || isUnasked));
      const who = seen?.compacted ? "others" : changed?.agent;
      if (who !== undefined) {
        const why = `${who} changed this message while it was queued. Check it and send it again.`;
        return this.unsent(queued, problem("conflict", why));
      }
      const version = seen?.ops.at(-1)?.version;
      const opened = await this.#kernel.write(request.conversation, {
        agent: by,
        plan: (draft) =>
          this.#remote?.runsIn(draft)
            ? ELSEWHERE
            : (queued.also?.(draft) ?? openTurn(draft, queued, version, this.#remote?.node, sizes)),
      });
      if (opened === ELSEWHERE) return opened;
      if (isProblem(opened) && waiting !== undefined) return this.unsent(queued, opened);
      if (opened !== undefined) return opened;
    }
  }

  /** With the conversation's mode, where it says none itself. */
  async #asHere(request: TurnRequest): Promise<Freedom> {
    const record = await this.#kernel.conversation(request.conversation);
    return { ...request, mode: request.mode ?? (isProblem(record) ? undefined : modeIn(record.metadata)) };
  }

  /** One that the agent has begun by itself. */
  async #openOwn(queued: Queued): Promise<Opened | Problem> {
    const { conversation } = queued.request;
    const before = this.#alone.get(conversation) ?? 0;
    if (before >= OWN_TURNS) {
      await this.#end.show(queued, ALONE.message);
      return ALONE;
    }
    const opened = await this.#kernel.write(conversation, {
      agent: queued.by,
      plan: (draft) =>
        this.#remote?.runsIn(draft) ? ELSEWHERE : openOwnTurn(draft, queued, this.#remote?.node),
    });
    if (!isProblem(opened)) this.#alone.set(conversation, before + 1);
    return opened;
  }

  /** A message that waited and cannot be sent: nobody waits for the answer any more, so the conversation says it. */
  async unsent(queued: Queued, why: Problem): Promise<Problem> {
    const message = `Not sent: ${why.message}`;
    if (queued.waiting) await drop(this.#kernel, queued.waiting, queued.by, "interrupted");
    await this.#end.show(queued, message);
    return { ...why, message };
  }
}
