/**
 * Turns: start, queue, stop, answer. One turn runs in a conversation at a time; what is asked meanwhile waits. What runs
 * in a turn is a run (see run.ts): an agent in a child process, or our own loop on a provider's API. Where several nodes
 * share the store, a turn runs on the node where it was started; remote-turns.ts has how it is reached from others.
 *
 * A turn ends exactly once. Its end comes from the run; where the run does not bring it (the agent died, could not start,
 * hangs after its result, is silent for too long), it is ended here, with a reason.
 *
 * A message that waits hangs off the head and is no part of the path, because what still comes of the running turn must
 * stand before it. When its turn begins it is said again, at the head that is there then, as it reads then.
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
  type Turn,
} from "@blockyard/kernel";
import type { Secrets } from "../ingest/secrets.ts";
import { type Answered, Answering } from "./answering.ts";
import { attachedSizes, checkAttachments } from "./attachments.ts";
import { AwaitedTurns } from "./awaited-turns.ts";
import { type Driver, refusesModel } from "./driver.ts";
import { DriverTable } from "./driver-table.ts";
import { atLimit, Later } from "./later.ts";
import { MessageQueue } from "./message-queue.ts";
import { checkMode, checkSandbox, type Mode, withoutFull } from "./mode.ts";
import { ModeWatch } from "./mode-watch.ts";
import { isText, type Opened, openTurn } from "./open-turn.ts";
import { RemoteTurns } from "./remote-turns.ts";
import type { Rules } from "./rules/rules.ts";
import type { Run, TurnRequest, TurnStart } from "./run.ts";
import { type Queued, type Steered, Steering } from "./steering.ts";
import { TurnEnd } from "./turn-end.ts";
import {
  claim,
  drop,
  holdAll,
  isTaken,
  moveWaiting,
  queuedIn,
  requestOf,
  stopWaiting,
  waitingIn,
  writeWaiting,
} from "./waiting.ts";
import type { WorkspaceObserver } from "./workspace/observed.ts";
import type { Given } from "./write-answer.ts";

export interface TurnsOptions {
  readonly kernel: Kernel;
  readonly drivers: readonly Driver[];
  /** What the owner has to be asked before anything runs in a folder; undefined: nothing. */
  readonly trust?: (cwd: string | undefined) => Problem | undefined;
  /** Why what is in a turn's context may not be shown to its agent. */
  readonly shows?: (request: TurnRequest) => Promise<Problem | undefined>;
  /** What answers agents without asking anybody. */
  readonly rules?: Rules;
  /** Agents may be given full access here. */
  readonly fullAccess?: boolean;
  /** A folder in which nothing acts by itself: agents are asked about themselves there. */
  readonly home?: string;
  /** Shows what commands of a turn changed in its folder. */
  readonly observer?: WorkspaceObserver;
  /** Takes secrets out of what is stored, and knows what was asked. */
  readonly secrets?: Secrets | undefined;
}

interface Live extends Steered {
  readonly done: Promise<void>;
  readonly mode: ModeWatch;
  /** Orders that came by way of other nodes and were taken. */
  readonly taken: Set<string>;
}

interface Started {
  readonly turn: string;
  readonly queued: boolean;
  readonly block: BlockId;
}

/** What became of the turns of a conversation, and of the messages that wait there. */
interface Stopped {
  readonly stopped: number;
  readonly dropped: number;
  readonly held: number;
}

/** How long a server that stops waits for the store. */
const CLOSING_MS = 2_000;
/** Not an answer to a caller: the turn waits. */
const ELSEWHERE = problem("busy", "another node is running a turn in this conversation");

export class Turns {
  readonly #kernel: Kernel;
  readonly drivers: DriverTable;
  readonly #runs = new Map<ConversationId, Live>();
  readonly #steering: Steering;
  readonly #answering: Answering;
  /** What goes on when a usage limit is reset. */
  readonly later: Later | undefined;
  readonly #end: TurnEnd;
  readonly #queues = new MessageQueue();
  /** Conversations in which a turn is being started. */
  readonly #starting = new Map<ConversationId, Promise<unknown>>();
  readonly #remote: RemoteTurns | undefined;
  readonly #awaited: AwaitedTurns | undefined;
  readonly #stopListening: () => void;
  readonly #observer: WorkspaceObserver | undefined;
  readonly #trust: (cwd: string | undefined) => Problem | undefined;
  readonly #shows: (request: TurnRequest) => Promise<Problem | undefined>;
  #isClosed = false;

  constructor(options: TurnsOptions) {
    const { kernel, trust = () => undefined, shows = async () => undefined, rules, secrets } = options;
    const drivers = options.fullAccess ? options.drivers : options.drivers.map(withoutFull);
    this.#trust = trust;
    this.#shows = shows;
    this.#observer = options.observer;
    this.drivers = new DriverTable(drivers, trust, options.home ?? "/");
    this.later =
      options.home === undefined
        ? undefined
        : new Later({
            ...{ kernel, home: options.home },
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
      (run) => patiently(kernel.env, run, this.#isClosed ? CLOSING_MS : undefined),
      secrets,
    );
    this.#remote = kernel.node === undefined ? undefined : new RemoteTurns(kernel, kernel.node);
    this.#awaited =
      this.#remote && new AwaitedTurns(kernel, this.#remote, (conversation) => this.#next(conversation));
    this.#stopListening = kernel.listen((told) => this.#onCommit(told));
  }

  get providers(): readonly string[] {
    return this.drivers.providers;
  }

  /** The modes of what runs in a conversation of this node. */
  modesIn(conversation: ConversationId): readonly Mode[] {
    const provider = this.#runs.get(conversation)?.start.request.provider ?? "";
    return this.drivers.get(provider)?.abilities.modes ?? [];
  }

  /** What runs in a conversation of this node. */
  runIn(conversation: ConversationId): Run | undefined {
    return this.#runs.get(conversation)?.run;
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Why a turn cannot start, before anything is written. */
  async check(request: TurnRequest): Promise<Problem | undefined> {
    const missing = request.attachments && (await checkAttachments(this.#kernel.store, request.attachments));
    if (missing) return missing;
    if (this.#isClosed) return problem("unavailable", "the server is stopping");
    const driver = this.drivers.get(request.provider);
    if (!driver) return this.drivers.unknown(request.provider);
    const noMode = checkMode(request.provider, driver.abilities.modes, request.mode);
    if (noMode) return noMode;
    const noSandbox = checkSandbox(request.provider, driver.abilities.sandboxes, request.sandbox);
    if (noSandbox) return noSandbox;
    const refused = driver.check(request) ?? this.#trust(request.cwd) ?? (await this.#shows(request));
    return refused ?? refusesModel(this.#kernel.env, driver, request);
  }

  /** Starts a turn, or queues it behind the one that runs. */
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
   * Stops what runs in a conversation; with `only`, that turn and no other. What waits behind it is not sent then: it is held,
   * or dropped with `queued`. With `only` for one that waits, that one is dropped.
   */
  async stop(
    by: AgentId,
    conversation: ConversationId,
    queued: boolean,
    only?: string,
  ): Promise<Stopped | Problem> {
    // Taken out at once: what runs may end by itself this moment, and nothing may take its place.
    const isAll = only === undefined || this.#runs.get(conversation)?.start.id === only;
    const back = await this.#steering.takeBack(this.#runs.get(conversation), isAll ? undefined : only);
    if (isProblem(back)) return back;
    const taken = [...back, ...this.#queues.take(conversation, ({ id }) => isAll || id === only)];
    const dropped = taken.filter(({ id }) => id === only || queued);
    for (const { waiting } of dropped) if (waiting) await drop(this.#kernel, waiting, by, "cancelled");
    const held = await holdAll(
      this.#kernel,
      taken.filter((each) => !dropped.includes(each)),
      "stopped",
    );
    const others = await stopWaiting(this.#kernel, by, conversation, queued, only);
    if (isProblem(others)) return others;
    await this.#starting.get(conversation);
    const live = this.#runs.get(conversation);
    const isMeant = live !== undefined && (only === undefined || live.start.id === only);
    if (isMeant) live.run.stop("cancelled");
    if (isMeant) await live.done;
    const leased = await stopLeased(this.#kernel, by, conversation, only);
    if (isProblem(leased)) return leased;
    const here = {
      stopped: (isMeant ? 1 : 0) + leased,
      dropped: dropped.length + others.dropped,
      held: held + others.held,
    };
    if (!this.#remote || (only !== undefined && here.stopped + here.dropped > 0)) return here;
    const stopped = await this.#remote.stop(by, conversation, only);
    return isProblem(stopped) ? stopped : { ...here, stopped: here.stopped + stopped };
  }

  /** Sends messages that were held, or one of them: at once, or behind what runs. */
  async release(
    by: AgentId,
    conversation: ConversationId,
    only?: string,
  ): Promise<{ sent: number } | Problem> {
    const waiting = await waitingIn(this.#kernel, conversation);
    if (isProblem(waiting)) return waiting;
    const meant = waiting.filter(
      (block) => queuedIn(block)?.held !== undefined && (only === undefined || block.metadata.turn === only),
    );
    if (meant.length === 0) return problem("gone", "no message is held here");
    let sent = 0;
    for (const block of meant) {
      const text = await this.#kernel.whole(block.id);
      if (isProblem(text)) return text;
      const request = await requestOf(this.#kernel.store, block, text.text);
      if (isProblem(request)) return request;
      const refused = await this.check(request);
      if (refused) return refused;
      if (!(await claim(this.#kernel, block.id, by, this.#remote?.node))) continue;
      const next = { id: String(block.metadata.turn), request, by: block.agent, waiting: block.id };
      this.#queues.add(conversation, next);
      sent++;
    }
    this.#next(conversation);
    return { sent };
  }

  /** Puts a message that waits before or behind its neighbour. */
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

  /** Answers what an agent asks, or asked before a restart; once. */
  async answer(by: AgentId, block: BlockId, ask: string, given: Given): Promise<Answered> {
    const isHere = this.#runs.has(block.split("/", 1)[0] ?? "");
    const there = isHere ? undefined : await this.#remote?.answer(by, block, ask, given);
    const isLeft = isProblem(there) && (there.problem === "gone" || there.details?.["state"] === "expired");
    return there === undefined || isLeft ? this.#answering.answer(by, block, ask, given) : there;
  }

  /** Rules have changed: what waits for an answer may have one now. */
  applyRules(): void {
    for (const conversation of this.#runs.keys()) this.#answering.applyRules(conversation);
  }

  /** A turn in which an agent gets an answer that comes late; not behind another one. */
  async #goOn(
    by: AgentId,
    request: TurnRequest,
    also: (draft: Draft) => Problem | undefined,
  ): Promise<Problem | undefined> {
    const refused = await this.check(request);
    if (refused) return refused;
    if (this.#isBusy(request.conversation)) return problem("busy", "another turn runs in this conversation");
    const id = `turn-${randomName(this.#kernel.env, 8)}`;
    const driver = this.drivers.get(request.provider) as Driver;
    const begun = await this.#beginAlone({ id, request, by, also }, driver);
    return isProblem(begun) ? begun : undefined;
  }

  /** Stops everything; nothing is left behind. */
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

  /** A message to an agent that works goes to it at once, where that was asked for and the agent takes it; otherwise it waits. */
  async #enqueueOrSteer(queued: Queued): Promise<Started | Problem> {
    const { conversation, when } = queued.request;
    const started = await this.#enqueue(queued);
    const live = this.#runs.get(conversation);
    if (isProblem(started) || live === undefined || when === undefined || when === "later") return started;
    return this.#steering.send(live, { ...queued, waiting: started.block }, when, () => {
      this.#queues.take(conversation, ({ waiting }) => waiting === started.block);
    });
  }

  /** Begins a turn, and keeps others out of the conversation meanwhile. The block with the prompt. */
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
    const { id, request, by } = queued;
    const { conversation } = request;
    // While it waited, what ran before it may have changed what acts by itself in its folder, and the owner what it is shown.
    const distrust = queued.waiting && (this.#trust(request.cwd) ?? (await this.#shows(request)));
    if (distrust) return this.#unsent(queued, distrust);
    const unfollow = await this.#kernel.follow(conversation);
    if (isProblem(unfollow)) return queued.waiting ? this.#unsent(queued, unfollow) : unfollow;
    const opened = await this.#open(queued);
    if (opened === ELSEWHERE) await this.#await(queued);
    if (isProblem(opened)) {
      unfollow();
      return opened;
    }
    const { prompt, text, mode } = opened;
    // A mode that is not to be had here any more is not taken for a freer one.
    const known = mode === undefined || driver.abilities.modes.includes(mode) ? mode : "ask";
    const start: TurnStart = {
      ...{ id, by, prompt },
      request: { ...request, prompt: text, ...(known === undefined ? {} : { mode: known }) },
    };
    const compare = this.#observer?.watch(start);
    // The boundary of one turn: that its agent cannot be started is its end, and nobody else's.
    const run = await driver.start(start).catch((error) => problem("unavailable", String(error)));
    if (isProblem(run)) {
      await this.#end.fail(start, run.message);
      unfollow();
      return opened.prompt;
    }
    const watched = new ModeWatch(this.#kernel, start, run);
    const done = this.#follow(start, run, watched, compare).finally(unfollow);
    this.#runs.set(conversation, { start, run, done, mode: watched, taken: new Set(), sent: new Map() });
    this.#answering.applyRules(conversation);
    if (this.#remote) void this.#catchUp(conversation);
    return opened.prompt;
  }

  /** Opens the turn, unless somebody else has written to the message while it waited: it would be sent in the name of `by`. */
  async #open(queued: Queued): Promise<Opened | Problem> {
    const { request, by, waiting } = queued;
    const sizes = await attachedSizes(this.#kernel.store, request.attachments ?? []);
    for (;;) {
      const seen = waiting === undefined ? undefined : await this.#kernel.log(waiting, { version: 0 });
      if (isProblem(seen)) return seen;
      const other = seen?.fold ? "others" : seen?.ops.find((op) => op.agent !== by && isText(op))?.agent;
      if (other !== undefined) {
        const why = `${other} changed this message while it was queued. Check it and send it again.`;
        return this.#unsent(queued, problem("conflict", why));
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
      if (isProblem(opened) && waiting !== undefined) return this.#unsent(queued, opened);
      if (opened !== undefined) return opened;
    }
  }

  /** A message that waited and cannot be sent: nobody waits for the answer any more, so the conversation says it. */
  async #unsent(queued: Queued, why: Problem): Promise<Problem> {
    const message = `Not sent: ${why.message}`;
    if (queued.waiting) await drop(this.#kernel, queued.waiting, queued.by, "interrupted");
    await this.#end.show(queued, message);
    return { ...why, message };
  }

  /** To the run's end, and the end of the turn whatever happens. */
  async #follow(
    start: TurnStart,
    run: Run,
    mode: ModeWatch,
    compare?: Promise<() => Promise<void>>,
  ): Promise<void> {
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
      // What the agent has not read is the next turn's.
      this.#queues.putFirst(conversation, unread);
      this.#runs.delete(conversation);
      this.#answering.over(conversation);
      this.#next(conversation);
    }
  }

  #next(conversation: ConversationId): void {
    const first = this.#queues.first(conversation);
    if (!first || this.#isClosed || this.#isBusy(conversation)) return;
    this.#queues.removeFirst(conversation);
    const driver = this.drivers.get(first.request.provider);
    if (driver) this.#beginAlone(first, driver).catch((error) => this.#kernel.onFault(error));
  }

  // -- other nodes

  /** A commit, of whichever node: what it means for what runs and waits here. */
  #onCommit({ conversation, turns, blocks }: Change): void {
    this.#answering.heard(conversation, blocks);
    this.#runs.get(conversation)?.mode.look();
    if (this.#remote === undefined) return;
    for (const turn of turns) this.#obey(conversation, turn);
    if (turns.length > 0) this.#awaited?.onChange(conversation);
    if (blocks.length > 0)
      this.#queues.take(conversation, ({ waiting }) => waiting !== undefined && isTaken(blocks, waiting));
  }

  #obey(conversation: ConversationId, turn: Turn): void {
    const live = this.#runs.get(conversation);
    if (live?.start.id !== turn.id) return;
    // This node was taken for dead: what the agent still says belongs to no turn.
    if (turn.status !== "running" && turn.node !== undefined) live.run.kill("interrupted");
    for (const { id, by, answer } of turn.orders ?? []) {
      if (live.taken.has(id)) continue;
      live.taken.add(id);
      if (answer === undefined) {
        void holdAll(
          this.#kernel,
          this.#queues.take(conversation, () => true),
          "stopped",
        );
        live.run.stop("cancelled");
      } else {
        const { block, ask, ...given } = answer;
        void this.answer(by, block, ask, given);
      }
    }
  }

  /** Orders that came before there was anything to give them to. */
  async #catchUp(conversation: ConversationId): Promise<void> {
    const turns = await this.#kernel.turns(conversation);
    if (!isProblem(turns)) for (const turn of turns) this.#obey(conversation, turn);
  }

  /** Waits with a turn until no other node runs one; a message that waits stays the first that does. */
  async #await(queued: Queued): Promise<void> {
    const { conversation } = queued.request;
    if (queued.waiting !== undefined) this.#queues.putFirst(conversation, [queued]);
    await this.#awaited?.add(conversation);
  }
}
