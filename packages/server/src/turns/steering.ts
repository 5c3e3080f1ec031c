/**
 * Steering: messages that an agent gets while it works. Each is stored as a queued message until the agent reads it; then it moves to
 * that place in the conversation. A message that the agent never reads stays queued for the next turn, or is returned by a stop.
 */

import { randomUUID } from "node:crypto";
import {
  type AgentId,
  type BlockId,
  type Draft,
  isEnded,
  isProblem,
  type Kernel,
  type Problem,
  problem,
} from "@blockyard/kernel";
import { NOTHING_ATTACHED } from "./attachments.ts";
import type { Message } from "./message.ts";
import type { Run, TurnRequest, TurnStart } from "./run.ts";
import { markSent } from "./waiting.ts";

export interface Queued {
  readonly id: string;
  readonly request: TurnRequest;
  readonly by: AgentId;
  /** The message that waits; undefined where nothing was in its way. */
  readonly waiting?: BlockId;
  /** Written with its prompt; a problem: then neither is. */
  readonly also?: (draft: Draft) => Problem | undefined;
  /** The agent has begun it by itself: there is no prompt. */
  readonly isOwn?: true;
}

/** A turn that runs, with the messages that were sent into it and that its agent has not read, by their ids. */
export interface Steered {
  readonly start: TurnStart;
  readonly run: Run;
  readonly sent: Map<string, Queued>;
}

/** Where a message went. */
export interface Started {
  readonly turn: string;
  readonly queued: boolean;
  readonly block: BlockId;
}

export class Steering {
  readonly #kernel: Kernel;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** `leaveQueue`: it is the agent's from here on. Where it was not sent, it stays in the queue. */
  async send(
    live: Steered,
    queued: Queued & { readonly waiting: BlockId },
    when: Message["when"],
    leaveQueue: () => void,
  ): Promise<Started> {
    const { request, waiting } = queued;
    const started = { turn: queued.id, queued: true, block: waiting };
    const isSame = request.provider === live.start.request.provider && request.parent === undefined;
    if (!live.run.send || !isSame || request.fresh === true || (request.attachments ?? []).length > 0)
      return started;
    const id = randomUUID();
    leaveQueue();
    live.sent.set(id, queued);
    // Not waited for: it must not be the queue's again before the agent has it.
    const marked = markSent(this.#kernel, waiting, queued.by, true);
    const refused = await live.run.send({
      ...{ id, text: request.prompt, attached: NOTHING_ATTACHED, when },
      taken: () => this.#taken(live, id, queued),
    });
    // With what is unread, it is the next turn's.
    if (refused && (await marked)) await markSent(this.#kernel, waiting, queued.by, false);
    return started;
  }

  /** Takes back what was sent and not read: one message, or all of a turn that is being stopped. */
  async takeBack(live: Steered | undefined, only: string | undefined): Promise<readonly Queued[] | Problem> {
    if (live === undefined) return [];
    const back: Queued[] = [];
    for (const [id, queued] of [...live.sent]) {
      if (only !== undefined && queued.id !== only) continue;
      const isBack = only === undefined || (await live.run.takeBack?.(id)) === true;
      if (!isBack) return problem("conflict", "the agent has already read this message");
      live.sent.delete(id);
      back.push(queued);
    }
    return back;
  }

  /** The agent has read it: it stands there, said by whom it is of. */
  async #taken({ start, sent }: Steered, id: string, { by, waiting, request }: Queued): Promise<void> {
    sent.delete(id);
    const said = await this.#kernel.write(request.conversation, {
      agent: by,
      patient: true,
      plan: (draft) => {
        const waited = waiting === undefined ? undefined : draft.block(waiting);
        if (waiting !== undefined && waited && !isProblem(waited) && !isEnded(waited.status))
          draft.status(waiting, "done");
        return draft.create({
          ...{ kind: "text", role: "user", text: request.prompt, side: false, status: "done" },
          metadata: { turn: start.id },
        });
      },
    });
    // An agent that has read what nobody can see does not go on unseen.
    if (isProblem(said)) throw new Error(said.message);
  }
}
