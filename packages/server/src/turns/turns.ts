/**
 * Turns: start, queue, stop, answer. One turn runs in a conversation at a time; what is asked meanwhile waits. What runs
 * in a turn is a run (see run.ts): an agent in a child process, or our own loop on a provider's API. Where several nodes
 * share the store, a turn runs on the node where it was started; elsewhere.ts has how it is reached from others.
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
  type ConversationId,
  type Draft,
  isProblem,
  type Json,
  type JsonObject,
  type Kernel,
  type Op,
  type Problem,
  problem,
  type Reason,
  randomName,
  stopLeased,
  type Told,
  type Turn,
} from "@blockyard/kernel";
import { checkAttachments, writeAttachments } from "./attachments.ts";
import { Elsewhere, isDropped } from "./elsewhere.ts";
import type { Run, RunEnd, Runner, TurnRequest, TurnStart } from "./run.ts";

export interface TurnsOptions {
  readonly kernel: Kernel;
  readonly runners: readonly Runner[];
}

interface Live {
  readonly start: TurnStart;
  readonly run: Run;
  readonly done: Promise<void>;
  /** Orders that came by way of other nodes and were taken. */
  readonly taken: Set<string>;
}

interface Queued {
  readonly id: string;
  readonly request: TurnRequest;
  readonly by: AgentId;
  /** The message that waits; undefined where nothing was in its way. */
  readonly waiting?: BlockId;
}

interface Started {
  readonly turn: string;
  readonly queued: boolean;
  readonly block: BlockId;
}

const MAX_QUEUED = 20;
const LOOK_AGAIN_MS = 1_000;
/** Not an answer to a caller: the turn waits. */
const ELSEWHERE = problem("busy", "another node runs a turn in this conversation");

export class Turns {
  readonly #kernel: Kernel;
  readonly #runners: ReadonlyMap<string, Runner>;
  readonly #runs = new Map<ConversationId, Live>();
  readonly #queues = new Map<ConversationId, Queued[]>();
  /** Conversations in which a turn is being started. */
  readonly #starting = new Map<ConversationId, Promise<unknown>>();
  readonly #elsewhere: Elsewhere | undefined;
  /** Conversations in which something waits for a turn of another node, with how to stop following them. */
  readonly #awaited = new Map<ConversationId, () => void>();
  readonly #stopListening: () => void;
  #isClosed = false;

  constructor({ kernel, runners }: TurnsOptions) {
    const { node } = kernel;
    this.#kernel = kernel;
    this.#runners = new Map(runners.map((runner) => [runner.provider, runner]));
    this.#elsewhere = node === undefined ? undefined : new Elsewhere(kernel, node);
    this.#stopListening = node === undefined ? () => undefined : kernel.listen((told) => this.#hear(told));
  }

  get providers(): readonly string[] {
    return [...this.#runners.keys()];
  }

  /** The only folder in which turns of a provider work; undefined where that is not fixed. */
  folderOf(provider: string): string | undefined {
    return this.#runners.get(provider)?.folder;
  }

  get running(): number {
    return this.#runs.size;
  }

  /** Starts a turn, or queues it behind the one that runs. */
  async start(by: AgentId, request: TurnRequest): Promise<Started | Problem> {
    const missing = request.attachments && (await checkAttachments(this.#kernel.store, request.attachments));
    if (missing) return missing;
    if (this.#isClosed) return problem("unavailable", "the server is stopping");
    const runner = this.#runners.get(request.provider);
    if (!runner)
      return problem("invalid", `no agent ${request.provider}: one of ${this.providers.join(", ")}`);
    const refused = runner.check(request);
    if (refused) return refused;
    const id = `turn-${randomName(this.#kernel.env, 8)}`;
    if (this.#isBusy(request.conversation)) return this.#enqueue({ id, request, by });
    const prompt = await this.#beginAlone({ id, request, by }, runner);
    if (prompt === ELSEWHERE) return this.#enqueue({ id, request, by });
    return isProblem(prompt) ? prompt : { turn: id, queued: false, block: prompt };
  }

  /** Stops what runs in a conversation; with `queued`, what waits there too. With `only`, that turn and no other. */
  async stop(
    by: AgentId,
    conversation: ConversationId,
    queued: boolean,
    only?: string,
  ): Promise<{ stopped: number; dropped: number } | Problem> {
    const all = this.#queues.get(conversation) ?? [];
    const waiting = all.filter(({ id }) => (only === undefined ? queued : id === only));
    const rest = all.filter((each) => !waiting.includes(each));
    if (rest.length === 0) this.#queues.delete(conversation);
    else this.#queues.set(conversation, rest);
    for (const each of waiting) await this.#drop(each, "cancelled");
    await this.#starting.get(conversation);
    const live = this.#runs.get(conversation);
    const isMeant = live !== undefined && (only === undefined || live.start.id === only);
    if (isMeant) {
      live.run.stop("cancelled");
      await live.done;
    }
    const held = await stopLeased(this.#kernel, by, conversation, only);
    if (isProblem(held)) return held;
    const here = { stopped: (isMeant ? 1 : 0) + held, dropped: waiting.length };
    if (!this.#elsewhere || (only !== undefined && here.stopped + here.dropped > 0)) return here;
    const dropped = queued || only !== undefined ? await this.#elsewhere.drop(by, conversation, only) : 0;
    if (isProblem(dropped)) return dropped;
    const stopped = await this.#elsewhere.stop(by, conversation, only);
    if (isProblem(stopped)) return stopped;
    return { stopped: here.stopped + stopped, dropped: here.dropped + dropped };
  }

  /** Answers a permission request of what runs; once. */
  async answer(
    by: AgentId,
    block: BlockId,
    approval: string,
    allow: boolean,
    message?: string,
    answers?: JsonObject,
  ): Promise<{ state: "allowed" | "denied" } | Problem> {
    const conversation = block.split("/", 1)[0] ?? "";
    const live = this.#runs.get(conversation);
    if (!live && this.#elsewhere) {
      const said = { ...(message === undefined ? {} : { message }), ...(answers ? { answers } : {}) };
      return this.#elsewhere.answer(by, { block, approval, allow, ...said });
    }
    if (!live) return problem("gone", "the agent that asked is not running any more");
    const state = allow ? ("allowed" as const) : ("denied" as const);
    const said = message?.trim() ? message : undefined;
    const answered = await this.#kernel.writeBlock(block, {
      agent: by,
      plan: (draft) => writeAnswer(draft, block, approval, state, said, live.run),
    });
    if (isProblem(answered)) return answered;
    const why = said ?? `${by} did not allow this`;
    const input = answers === undefined ? answered.input : { ...(answered.input as JsonObject), answers };
    live.run.answer({ approval, allow, input, message: why });
    return { state };
  }

  /** Stops everything; nothing is left behind. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopListening();
    for (const unfollow of this.#awaited.values()) unfollow();
    const waiting = [...this.#queues.values()].flat();
    this.#queues.clear();
    await Promise.all(this.#starting.values());
    const lives = [...this.#runs.values()];
    for (const { run } of lives) run.kill("interrupted");
    await Promise.all(lives.map(({ done }) => done));
    for (const each of waiting) await this.#drop(each, "interrupted");
  }

  #isBusy(conversation: ConversationId): boolean {
    return (
      this.#runs.has(conversation) || this.#starting.has(conversation) || this.#awaited.has(conversation)
    );
  }

  async #enqueue({ id, request, by }: Queued): Promise<Started | Problem> {
    const { conversation, prompt: text } = request;
    const length = () => this.#queues.get(conversation)?.length ?? 0;
    if (length() >= MAX_QUEUED)
      return problem("busy", `${length()} messages wait in this conversation already`);
    const node = this.#elsewhere?.node;
    const asked = await this.#kernel.write(conversation, {
      agent: by,
      plan: (draft) => {
        const above = request.parent === undefined ? undefined : draft.block(request.parent);
        if (isProblem(above)) return above; // now, while somebody listens
        return draft.create({
          kind: "text",
          role: "user",
          text,
          side: true,
          status: "pending",
          metadata: { turn: id, notice: "queued", ...(node === undefined ? {} : { node }) },
        });
      },
    });
    if (isProblem(asked)) return asked;
    const waiting = this.#queues.get(conversation) ?? [];
    this.#queues.set(conversation, [...waiting, { id, request, by, waiting: asked.id }]);
    if (!this.#isBusy(conversation)) this.#next(conversation);
    return { turn: id, queued: true, block: asked.id };
  }

  async #drop({ waiting, by }: Queued, reason: Reason): Promise<void> {
    if (waiting === undefined) return;
    await this.#kernel.writeBlock(waiting, {
      agent: by,
      plan: (draft) => draft.status(waiting, "error", { reason }),
    });
  }

  /** Begins a turn, and keeps others out of the conversation meanwhile. The block with the prompt. */
  #beginAlone(queued: Queued, runner: Runner): Promise<BlockId | Problem> {
    const { conversation } = queued.request;
    const begun = this.#begin(queued, runner).finally(() => {
      this.#starting.delete(conversation);
      if (!this.#runs.has(conversation)) this.#next(conversation);
    });
    this.#starting.set(
      conversation,
      begun.catch(() => undefined),
    );
    return begun;
  }

  async #begin(queued: Queued, runner: Runner): Promise<BlockId | Problem> {
    const { id, request, by } = queued;
    const { conversation } = request;
    const unfollow = await this.#kernel.follow(conversation);
    if (isProblem(unfollow)) return queued.waiting ? this.#unsent(queued, unfollow) : unfollow;
    const opened = await this.#open(queued);
    if (opened === ELSEWHERE) await this.#await(queued);
    if (isProblem(opened)) {
      unfollow();
      return opened;
    }
    const start: TurnStart = {
      id,
      request: { ...request, prompt: opened.text },
      by,
      prompt: opened.prompt,
    };
    const run = await runner.begin(start);
    if (isProblem(run)) {
      await this.#fail(start, run.message);
      unfollow();
      return opened.prompt;
    }
    const done = this.#follow(start, run).finally(unfollow);
    this.#runs.set(conversation, { start, run, done, taken: new Set() });
    if (this.#elsewhere) void this.#catchUp(conversation);
    return opened.prompt;
  }

  /** Opens the turn, unless somebody else has written to the message while it waited: it would be sent in the name of `by`. */
  async #open(queued: Queued): Promise<Opened | Problem> {
    const { request, by, waiting } = queued;
    for (;;) {
      const seen = waiting === undefined ? undefined : await this.#kernel.log(waiting, { version: 0 });
      if (isProblem(seen)) return seen;
      const other = seen?.fold ? "others" : seen?.ops.find((op) => op.agent !== by && isText(op))?.agent;
      if (other !== undefined) {
        const why = `${other} changed this message while it waited. Send it again as you mean it.`;
        return this.#unsent(queued, problem("conflict", why));
      }
      const version = seen?.ops.at(-1)?.version;
      const opened = await this.#kernel.write(request.conversation, {
        agent: by,
        plan: (draft) =>
          this.#elsewhere?.runsIn(draft)
            ? ELSEWHERE
            : openTurn(draft, queued, version, this.#elsewhere?.node),
      });
      if (opened === ELSEWHERE) return opened;
      if (isProblem(opened) && waiting !== undefined) return this.#unsent(queued, opened);
      if (opened !== undefined) return opened;
    }
  }

  /** A message that waited and cannot be sent: nobody waits for the answer any more, so the conversation says it. */
  async #unsent(queued: Queued, why: Problem): Promise<Problem> {
    const message = `Not sent: ${why.message}`;
    await this.#drop(queued, "interrupted");
    await this.#show(queued, message);
    return { ...why, message };
  }

  /** To the run's end, and the end of the turn whatever happens. */
  async #follow(start: TurnStart, run: Run): Promise<void> {
    const end = await run.ended;
    await this.#settle(start, end);
    const { conversation } = start.request;
    this.#runs.delete(conversation);
    this.#next(conversation);
  }

  /** Ends the turn if the run has not; says what became of the run where that explains it. */
  async #settle(start: TurnStart, { error, reason, isExpected }: RunEnd): Promise<void> {
    const turns = await this.#kernel.turns(start.request.conversation);
    const isOpen =
      !isProblem(turns) && turns.some(({ id, status }) => id === start.id && status === "running");
    if (isOpen) await this.#fail(start, error, reason);
    else if (!isExpected) await this.#show(start, error);
  }

  async #fail(start: TurnStart, error: string, reason: Reason = "failed"): Promise<void> {
    await this.#kernel.write(start.request.conversation, {
      agent: start.by,
      plan: (draft) => {
        const turn = draft.turn(start.id);
        if (turn?.status !== "running") return null;
        const { node: _node, orders: _orders, ...rest } = turn;
        draft.setTurn({ ...rest, status: "error", reason, error, endedAt: draft.at });
        return null;
      },
    });
    if (reason !== "cancelled") await this.#show(start, error);
  }

  async #show({ id, request, by }: Pick<TurnStart, "id" | "request" | "by">, text: string): Promise<void> {
    const metadata = { turn: id, code: "agent" };
    await this.#kernel.write(request.conversation, {
      agent: by,
      plan: (draft) =>
        draft.create({ kind: "error", role: "system", status: "error", text, side: true, metadata }),
    });
  }

  #next(conversation: ConversationId): void {
    const [first, ...rest] = this.#queues.get(conversation) ?? [];
    if (!first || this.#isClosed || this.#isBusy(conversation)) return;
    if (rest.length === 0) this.#queues.delete(conversation);
    else this.#queues.set(conversation, rest);
    const runner = this.#runners.get(first.request.provider);
    if (runner) void this.#beginAlone(first, runner);
  }

  // -- other nodes

  /** A commit, of whichever node: what it means for what runs and waits here. */
  #hear({ conversation, turns, blocks }: Told): void {
    for (const turn of turns) this.#obey(conversation, turn);
    if (turns.length > 0 && this.#awaited.has(conversation)) void this.#lookElsewhere(conversation);
    const waiting = this.#queues.get(conversation);
    if (waiting === undefined || blocks.length === 0) return;
    const rest = waiting.filter((each) => each.waiting === undefined || !isDropped(blocks, each.waiting));
    if (rest.length === waiting.length) return;
    if (rest.length === 0) this.#queues.delete(conversation);
    else this.#queues.set(conversation, rest);
  }

  #obey(conversation: ConversationId, turn: Turn): void {
    const live = this.#runs.get(conversation);
    if (live?.start.id !== turn.id) return;
    // This node was taken for dead: what the agent still says belongs to no turn.
    if (turn.status !== "running" && turn.node !== undefined) live.run.kill("interrupted");
    for (const { id, by, answer } of turn.orders ?? []) {
      if (live.taken.has(id)) continue;
      live.taken.add(id);
      if (answer === undefined) live.run.stop("cancelled");
      else {
        const { block, approval, allow, message, answers } = answer;
        void this.answer(by, block, approval, allow, message, answers);
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
    if (queued.waiting !== undefined)
      this.#queues.set(conversation, [queued, ...(this.#queues.get(conversation) ?? [])]);
    if (this.#awaited.has(conversation)) return;
    this.#awaited.set(conversation, () => undefined);
    const unfollow = await this.#kernel.follow(conversation);
    if (isProblem(unfollow)) return void this.#awaited.delete(conversation);
    this.#awaited.set(conversation, unfollow);
    this.#kernel.env.soon(() => void this.#lookElsewhere(conversation));
  }

  async #lookElsewhere(conversation: ConversationId): Promise<void> {
    const running = await this.#elsewhere?.runningIn(conversation);
    const unfollow = this.#awaited.get(conversation);
    if (unfollow === undefined || this.#isClosed) return;
    if (isProblem(running))
      return void this.#kernel.env.after(LOOK_AGAIN_MS, () => void this.#lookElsewhere(conversation));
    if (running && running.length > 0) return;
    this.#awaited.delete(conversation);
    unfollow();
    this.#next(conversation);
  }
}

interface Opened {
  readonly prompt: BlockId;
  readonly text: string;
}

/** The turn's record, and its prompt where it belongs now. Undefined: the message that waited is at another version. */
function openTurn(
  draft: Draft,
  { id, request, waiting }: Queued,
  version: number | undefined,
  node: string | undefined,
): Opened | Problem | undefined {
  const text = waiting === undefined ? request.prompt : draft.text(waiting).toString();
  if (waiting !== undefined) {
    const waited = draft.block(waiting);
    if (isProblem(waited)) return waited;
    if (waited.version !== version) return undefined;
    if (waited.status === "pending") draft.status(waiting, "done");
  }
  const parent = writeAttachments(draft, id, request.attachments ?? [], request.parent);
  if (isProblem(parent)) return parent;
  const asked = draft.create({
    kind: "text",
    role: "user",
    text,
    side: false,
    status: "done",
    metadata: { turn: id },
    ...(parent ? { parent } : {}),
  });
  if (isProblem(asked)) return asked;
  const { cwd } = request;
  if (cwd !== undefined && draft.record.metadata["cwd"] !== cwd) draft.conversation({ metadata: { cwd } });
  draft.setTurn({
    id,
    provider: request.provider,
    agent: request.provider,
    startedBy: draft.agent,
    status: "running",
    startedAt: draft.at,
    ...(request.model === undefined ? {} : { model: request.model }),
    ...(node === undefined ? {} : { node, orders: [] }),
  });
  return { prompt: asked.id, text };
}

function isText({ body }: Op): boolean {
  return body.type === "append" || body.type === "splice";
}

function writeAnswer(
  draft: Draft,
  block: BlockId,
  approval: string,
  state: "allowed" | "denied",
  message: string | undefined,
  run: Run,
): { input: Json } | Problem {
  const call = draft.block(block);
  if (isProblem(call)) return call;
  const asked = call.metadata["approval"] as JsonObject | undefined;
  if (asked?.["id"] !== approval) return problem("not_found", `block ${block} has no request ${approval}`);
  if (asked["state"] !== "asked")
    return problem("conflict", `this request was ${asked["state"]} already`, { state: asked["state"] });
  // Another agent's stream can say the same request with another input: leave for that must not become leave for this.
  if (run.asks(approval) !== block)
    return problem("conflict", `the agent that runs here has not asked this on block ${block}`);
  const full = {
    ...asked,
    state,
    answeredBy: draft.agent,
    answeredAt: draft.at,
    ...(message === undefined ? {} : { message }),
  };
  const started = state === "allowed" ? { stage: "running" } : {};
  const after = draft.meta(block, { approval: full, ...started });
  return isProblem(after) ? after : { input: (asked["input"] ?? null) as Json };
}
