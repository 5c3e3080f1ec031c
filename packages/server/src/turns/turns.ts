/**
 * Turns: start, queue, stop, answer. A conversation runs one turn at a time; further messages are queued. The work of a turn is a
 * run (see run.ts): an agent in a child process, or our own loop on a provider's API. If several nodes share the store, a turn
 * runs on the node that started it; others reach it through remote-turns.ts.
 *
 * A turn ends exactly once. Usually the run ends it; if it does not (the agent died, could not start, hangs after its result or
 * is silent for too long), it is ended here, with a reason.
 *
 * A queued message is attached to the head but not part of the path, because the running turn's blocks must come before it. When
 * its turn starts, its current text is written again as a prompt at the head.
 */

import {
  type AgentId,
  type BlockId,
  type Change,
  type ConversationId,
  type Draft,
  isProblem,
  type Kernel,
  type Problem,
  patiently,
  problem,
  randomName,
  stopLeased,
} from "@blockyard/kernel";
import type { Secrets } from "../ingest/secrets.ts";
import { type Answered, Answering } from "./answering.ts";
import { AwaitedTurns } from "./awaited-turns.ts";
import type { Driver } from "./driver.ts";
import { DriverTable } from "./driver-table.ts";
import { holdAll, releaseHeld, type Stopped, stopMessages } from "./held-messages.ts";
import { atLimit, type Later, laterIn } from "./later.ts";
import { STORE_CLOSING_MS } from "./limits.ts";
import { MessageQueue } from "./message-queue.ts";
import { withoutFull } from "./mode.ts";
import { ModeWatch } from "./mode-watch.ts";
import { startOf } from "./open-turn.ts";
import { OwnTurns } from "./own-turns.ts";
import { type Commanded, RemoteCommands } from "./remote-commands.ts";
import { RemoteTurns } from "./remote-turns.ts";
import type { Rules } from "./rules/rules.ts";
import type { TurnRequest } from "./run.ts";
import { type Queued, type Started, type Steered, Steering } from "./steering.ts";
import { TurnCheck } from "./turn-check.ts";
import { TurnEnd } from "./turn-end.ts";
import { ELSEWHERE, TurnOpener } from "./turn-opener.ts";
import { isTaken, moveWaiting, writeWaiting } from "./waiting.ts";
import type { WorkspaceObserver } from "./workspace/observed.ts";
import type { Given } from "./write-answer.ts";

interface TurnsOptions {
  readonly kernel: Kernel;
  readonly drivers: readonly Driver[];
  /** The confirmation that the owner has to give before anything runs in a folder; undefined: none. */
  readonly trust?: (cwd: string | undefined) => Problem | undefined;
  /** Why a turn's context may not be shown to its agent. */
  readonly shows?: (request: TurnRequest) => Promise<Problem | undefined>;
  /** Answers agents without asking anybody. */
  readonly rules?: Rules;
  /** Agents may be given full access here. */
  readonly fullAccess?: boolean;
  /** A folder without project settings or hooks, in which agents are queried. */
  readonly home?: string;
  /** Shows what commands of a turn changed in its folder. */
  readonly observer?: WorkspaceObserver;
  /** Removes secrets from stored text, and knows the original requests. */
  readonly secrets?: Secrets | undefined;
}

interface Live extends Steered, Commanded {
  readonly done: Promise<void>;
  readonly mode: ModeWatch;
}

type Followed = Pick<Live, "start" | "run" | "mode">;

export class Turns {
  readonly #kernel: Kernel;
  readonly drivers: DriverTable;
  readonly #runs = new Map<ConversationId, Live>();
  readonly #steering: Steering;
  readonly #answering: Answering;
  /** Turns that continue when a usage limit resets. */
  readonly later: Later | undefined;
  readonly #end: TurnEnd;
  readonly #queues = new MessageQueue();
  /** Conversations in which a turn is being started. */
  readonly #starting = new Map<ConversationId, Promise<unknown>>();
  readonly #remote: RemoteTurns | undefined;
  readonly #awaited: AwaitedTurns | undefined;
  readonly #stopListening: () => void;
  readonly #commands: RemoteCommands;
  readonly #observer: WorkspaceObserver | undefined;
  readonly #check: TurnCheck;
  readonly #opener: TurnOpener;
  readonly #own: OwnTurns;
  #isClosed = false;

  constructor(options: TurnsOptions) {
    const { kernel, trust = () => undefined, shows = async () => undefined, rules, secrets } = options;
    const drivers = options.fullAccess ? options.drivers : options.drivers.map(withoutFull);
    this.#observer = options.observer;
    this.drivers = new DriverTable(drivers, trust, options.home ?? "/");
    const isClosed = () => this.#isClosed;
    this.#check = new TurnCheck({ kernel, drivers: this.drivers, trust, shows, isClosed });
    this.later = laterIn(options.home, {
      kernel,
      start: async (by, request) => {
        const made = await this.start(by, request);
        if (isProblem(made)) await this.#end.show({ id: "later", request, by }, made.message);
      },
    });
    this.#answering = new Answering({
      ...{ kernel, rules, secrets, liveIn: (conversation) => this.#runs.get(conversation) },
      start: (by, request, also) => this.#goOn(by, request, also),
    });
    this.#kernel = kernel;
    this.#steering = new Steering(kernel);
    this.#end = new TurnEnd(
      kernel,
      (run) => patiently(kernel.env, run, this.#isClosed ? STORE_CLOSING_MS : undefined),
      secrets,
    );
    this.#remote = kernel.node === undefined ? undefined : new RemoteTurns(kernel, kernel.node);
    this.#opener = new TurnOpener(kernel, this.#end, this.#remote);
    this.#commands = new RemoteCommands({
      ...{ kernel, liveIn: (conversation) => this.#runs.get(conversation) },
      hold: (conversation) => void holdAll(kernel, this.#queues.take(conversation), "stopped"),
      answer: (by, block, ask, given) => void this.answer(by, block, ask, given),
    });
    this.#awaited =
      this.#remote && new AwaitedTurns(kernel, this.#remote, (conversation) => this.#next(conversation));
    this.#own = new OwnTurns({
      ...{ kernel, drivers, isBusy: (conversation) => this.#isClosed || this.#isBusy(conversation) },
      begin: (queued, driver) => this.#beginAlone(queued, driver),
    });
    this.#stopListening = kernel.listen((change) => this.#onCommit(change));
  }

  get providers(): readonly string[] {
    return this.drivers.providers;
  }

  /** Whose agent runs in a conversation of this node. */
  driverIn(conversation: ConversationId): Driver | undefined {
    const provider = this.#runs.get(conversation)?.start.request.provider ?? "";
    return this.drivers.get(provider);
  }

  /** What runs in a conversation of this node, as what, and who watches its mode. */
  liveIn(conversation: ConversationId): Followed | undefined {
    return this.#runs.get(conversation);
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Why a turn cannot start, before anything is written. */
  check(request: TurnRequest): Promise<Problem | undefined> {
    return this.#check.all(request);
  }

  /** Starts a turn, or queues it after the running one. */
  async start(by: AgentId, request: TurnRequest): Promise<Started | Problem> {
    const refused = await this.check(request);
    if (refused) return refused;
    const driver = this.drivers.get(request.provider) as Driver;
    const id = `turn-${randomName(this.#kernel.env, 8)}`;
    this.later?.drop(request.conversation);
    if (this.#isBusy(request.conversation)) return this.#enqueueOrSteer({ id, request, by });
    const prompt = await this.#beginAlone({ id, request, by }, driver);
    if (prompt === ELSEWHERE) return this.#enqueue({ id, request, by });
    return isProblem(prompt) ? prompt : { turn: id, queued: false, block: prompt };
  }

  /**
   * Stops the running turn of a conversation; with `only`, that turn and no other. Queued messages are then not sent:
   * they are held, or dropped with `queued`. If `only` names a queued one, that one is dropped.
   */
  async stop(
    by: AgentId,
    conversation: ConversationId,
    queued: boolean,
    only?: string,
  ): Promise<Stopped | Problem> {
    // Removed at once: the running turn may end by itself at this moment, and nothing may take its place.
    const isAll = only === undefined || this.#runs.get(conversation)?.start.id === only;
    const back = await this.#steering.takeBack(this.#runs.get(conversation), isAll ? undefined : only);
    if (isProblem(back)) return back;
    const taken = [...back, ...this.#queues.take(conversation, ({ id }) => isAll || id === only)];
    const messages = await stopMessages(this.#kernel, by, conversation, taken, { queued, only });
    if (isProblem(messages)) return messages;
    await this.#starting.get(conversation);
    const live = this.#runs.get(conversation);
    const isMeant = live !== undefined && (only === undefined || live.start.id === only);
    if (isMeant) live.run.stop("cancelled");
    if (isMeant) await live.done;
    const leased = await stopLeased(this.#kernel, by, conversation, only);
    if (isProblem(leased)) return leased;
    const here = { stopped: (isMeant ? 1 : 0) + leased, ...messages };
    if (!this.#remote || (only !== undefined && here.stopped + here.dropped > 0)) return here;
    const stopped = await this.#remote.stop(by, conversation, only);
    return isProblem(stopped) ? stopped : { ...here, stopped: here.stopped + stopped };
  }

  /** Sends held messages, or one of them: at once, or after the running turn. */
  async release(
    by: AgentId,
    conversation: ConversationId,
    only?: string,
  ): Promise<{ sent: number } | Problem> {
    const sent = await releaseHeld(this.#kernel, by, conversation, only, {
      ...{ check: (request) => this.check(request), node: this.#remote?.node },
      enqueue: (queued) => this.#queues.add(conversation, queued),
    });
    // Also where one of them cannot be sent: those before it are in the queue.
    this.#next(conversation);
    return isProblem(sent) ? sent : { sent };
  }

  /** Moves a queued message before or after its neighbour. */
  async move(
    by: AgentId,
    conversation: ConversationId,
    turn: string,
    direction: "up" | "down",
  ): Promise<{ order: readonly string[] } | Problem> {
    const order = await moveWaiting(this.#kernel, by, conversation, turn, direction);
    if (isProblem(order)) return order;
    this.#queues.sort(conversation, order);
    return { order };
  }

  /** Answers an agent's ask, also one from before a restart; once. */
  async answer(by: AgentId, block: BlockId, ask: string, given: Given): Promise<Answered> {
    const isHere = this.#runs.has(block.split("/", 1)[0] ?? "");
    const there = isHere ? undefined : await this.#remote?.answer(by, block, ask, given);
    const isLeft = isProblem(there) && (there.problem === "gone" || there.details?.["state"] === "expired");
    return there === undefined || isLeft ? this.#answering.answer(by, block, ask, given) : there;
  }

  /** Rules have changed: open asks may have an answer now. */
  applyRules(): void {
    for (const conversation of this.#runs.keys()) this.#answering.applyRules(conversation);
  }

  /** A turn in which an agent gets a late answer; not queued after another one. */
  async #goOn(
    by: AgentId,
    request: TurnRequest,
    also: (draft: Draft) => Problem | undefined,
  ): Promise<Problem | undefined> {
    if (this.#isBusy(request.conversation))
      return problem("busy", "another turn is running in this conversation");
    const id = `turn-${randomName(this.#kernel.env, 8)}`;
    const driver = this.drivers.get(request.provider) as Driver;
    const begun = await this.#beginAlone({ id, request, by, also }, driver);
    return isProblem(begun) ? begun : undefined;
  }

  /** Stops everything; nothing is left running. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.later?.close();
    this.#stopListening();
    this.#awaited?.close();
    const waiting = this.#queues.takeAll();
    await Promise.all(this.#starting.values());
    const lives = [...this.#runs.values()];
    for (const { run } of lives) run.kill("interrupted");
    const sent = lives.flatMap((live) => [...live.sent.values()]);
    await Promise.all(lives.map(({ done }) => done));
    await this.drivers.close();
    await holdAll(this.#kernel, [...waiting, ...sent], "restarted");
  }

  #isBusy(conversation: ConversationId): boolean {
    if (this.#runs.has(conversation) || this.#starting.has(conversation)) return true;
    return this.#awaited?.has(conversation) === true;
  }

  async #enqueue({ id, request, by }: Queued): Promise<Started | Problem> {
    const { conversation } = request;
    const block = await writeWaiting(this.#kernel, { id, request, by }, this.#remote?.node);
    if (isProblem(block)) return block;
    this.#queues.add(conversation, { id, request, by, waiting: block });
    if (!this.#isBusy(conversation)) this.#next(conversation);
    return { turn: id, queued: true, block };
  }

  /** A message to a running agent goes to it at once, if requested and the agent accepts it; otherwise it is queued. */
  async #enqueueOrSteer(queued: Queued): Promise<Started | Problem> {
    const { conversation, when } = queued.request;
    const started = await this.#enqueue(queued);
    const live = this.#runs.get(conversation);
    if (isProblem(started) || live === undefined || when === undefined || when === "later") return started;
    return this.#steering.send(live, { ...queued, waiting: started.block }, when, () => {
      this.#queues.take(conversation, ({ waiting }) => waiting === started.block);
    });
  }

  /** Begins a turn, and keeps others out of the conversation meanwhile. Returns the block with the prompt. */
  #beginAlone(queued: Queued, driver: Driver): Promise<BlockId | Problem> {
    const { conversation } = queued.request;
    const begun = this.#begin(queued, driver).finally(() => {
      this.#starting.delete(conversation);
      if (!this.#runs.has(conversation)) this.#next(conversation);
    });
    this.#starting.set(
      conversation,
      begun.catch(() => undefined),
    );
    return begun;
  }

  async #begin(queued: Queued, driver: Driver): Promise<BlockId | Problem> {
    const { request } = queued;
    const { conversation } = request;
    const distrust = queued.waiting && (await this.#check.again(request));
    if (distrust) return this.#opener.unsent(queued, distrust);
    const refused = queued.also && (await this.check(request));
    if (refused) return refused;
    const unfollow = await this.#kernel.follow(conversation);
    if (isProblem(unfollow)) return queued.waiting ? this.#opener.unsent(queued, unfollow) : unfollow;
    const opened = await this.#opener.open(queued);
    if (opened === ELSEWHERE) await this.#await(queued);
    if (isProblem(opened)) {
      unfollow();
      return opened;
    }
    const start = startOf(queued, opened, driver.abilities.modes);
    const compare = this.#observer?.watch(start);
    // The boundary of one turn: if its agent cannot be started, only this turn ends.
    const run = await driver.start(start).catch((error) => problem("unavailable", String(error)));
    if (isProblem(run)) {
      await this.#end.fail(start, run.message);
      unfollow();
      return opened.prompt;
    }
    const followed = { start, run, mode: new ModeWatch(this.#kernel, start, run) };
    const done = this.#follow(followed, compare).finally(unfollow);
    this.#runs.set(conversation, { ...followed, done, taken: new Set(), sent: new Map() });
    this.#answering.applyRules(conversation);
    if (this.#remote) void this.#commands.catchUp(conversation);
    return opened.prompt;
  }

  /** To the run's end, and the end of the turn whatever happens. */
  async #follow({ start, run, mode }: Followed, compare?: Promise<() => Promise<void>>): Promise<void> {
    try {
      const ended = await run.ended;
      if (!this.#isClosed) await (await compare)?.();
      await this.#end.settle(start, ended);
      await mode.end();
      if (run.limit) await atLimit(this.#end, this.later, start, run.limit.resetsAt);
    } catch (error) {
      this.#kernel.onFault(error);
    } finally {
      const { conversation } = start.request;
      const unread = [...(this.#runs.get(conversation)?.sent.values() ?? [])];
      // Messages that the agent has not read go into the next turn.
      this.#queues.putFirst(conversation, unread);
      this.#runs.delete(conversation);
      this.#answering.over(conversation);
      this.#next(conversation);
    }
  }

  #next(conversation: ConversationId): void {
    const first = this.#queues.first(conversation);
    if (!first) return this.#own.next(conversation);
    if (this.#isClosed || this.#isBusy(conversation)) return;
    this.#queues.removeFirst(conversation);
    const driver = this.drivers.get(first.request.provider);
    if (driver) this.#beginAlone(first, driver).catch((error) => this.#kernel.onFault(error));
  }

  // -- other nodes

  /** A commit of any node: applies it to running and queued turns here. */
  #onCommit({ conversation, record, turns, blocks }: Change): void {
    if (record.deleted) void this.drivers.close(conversation);
    this.#answering.heard(conversation, blocks);
    this.#runs.get(conversation)?.mode.look();
    if (this.#remote === undefined) return;
    for (const turn of turns) this.#commands.take(conversation, turn);
    if (turns.length > 0) this.#awaited?.onChange(conversation);
    if (blocks.length > 0)
      this.#queues.take(conversation, ({ waiting }) => waiting !== undefined && isTaken(blocks, waiting));
  }

  /** Waits with a turn until no other node runs one; a message that waits stays the first that does. */
  async #await(queued: Queued): Promise<void> {
    const { conversation } = queued.request;
    if (queued.waiting !== undefined) this.#queues.putFirst(conversation, [queued]);
    await this.#awaited?.add(conversation);
  }
}
