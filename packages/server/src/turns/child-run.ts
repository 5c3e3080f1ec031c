/**
 * A turn of an agent that runs as a child process: its output goes through the provider's adapter, its input takes the
 * owner's answers. How each agent is started and spoken to is in agents.ts.
 *
 * It ends with the child, whatever the child does: dies, hangs after its result, closes its output and lives on, is
 * silent for too long. While it waits for an answer of the owner, silence is not its fault.
 */

import {
  type Ask,
  type AskSuggestion,
  askOf,
  type BlockEvent,
  type BlockId,
  type BlockKey,
  isProblem,
  type JsonObject,
  type Kernel,
  type Problem,
  problem,
  type Reason,
} from "@blockyard/kernel";
import { type Before, countedIn, type Provider, providers } from "@blockyard/providers";
import { StreamIngest } from "../ingest/ingest-stream.ts";
import type { Secrets } from "../ingest/secrets.ts";
import { Child, type ChildEnd, type ChildSpec } from "../processes/child.ts";
import type { ProcessTracker } from "../processes/process-tracker.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { endUnstored, explain, LOST, STOPPED } from "./agent-end.ts";
import { AgentWatch } from "./agent-watch.ts";
import { type Agent, type AgentRequest, childSpec } from "./agents.ts";
import { NOTHING_ATTACHED, pictureFiles, readAttachments } from "./attachments.ts";
import type { Driver } from "./driver.ts";
import { FIRST_ERROR_BYTES } from "./limits.ts";
import { openingOf } from "./opening.ts";
import type { Prices } from "./prices.ts";
import type { Answer, RunEnd, TurnRequest, TurnStart } from "./run.ts";
import { SecondTry, type Trial } from "./second-try.ts";
import { TurnCost } from "./turn-cost.ts";

export interface ChildOptions {
  readonly kernel: Kernel;
  readonly root: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tracker: ProcessTracker;
  readonly sandbox?: Sandbox;
  readonly prices?: Prices;
  /** A folder in which nothing acts by itself. */
  readonly home?: string;
  /** The owner has started the server so that agents may do everything unasked. */
  readonly fullAccess?: boolean;
  /** What can be answered to an ask besides yes and no, what the agent suggests included. */
  readonly suggest?: (ask: Ask, cwd: string) => readonly AskSuggestion[];
  /** Takes secrets out of what is stored. */
  readonly secrets?: Secrets | undefined;
  /** An agent that says nothing for this long is stopped. */
  readonly silentMs?: number | undefined;
  /** One that has said its last word and does not end is killed after this. */
  readonly lingerMs?: number | undefined;
  /** How long it gets between being asked to stop and being made to. */
  readonly graceMs?: number | undefined;
}

/** Turns of one agent. */
export function childDriver(agent: Agent, options: ChildOptions): Driver {
  return {
    provider: agent.provider,
    abilities: agent.abilities,
    check: (request) => {
      const spec = childSpec(agent, requestOf(options, request));
      return isProblem(spec) ? spec : undefined;
    },
    async start(start) {
      const first = await beginRun(agent, options, start);
      if (isProblem(first) || !first.mayBeLost) return first;
      return new SecondTry(first, () => beginRun(agent, options, start, true));
    },
  };
}

/** With `isLost`, none of the agent's sessions is there any more. */
async function beginRun(
  agent: Agent,
  options: ChildOptions,
  start: TurnStart,
  isLost = false,
): Promise<ChildRun | Problem> {
  const { kernel, tracker } = options;
  const { request } = start;
  const opening = await openingOf(kernel, agent, start, isLost);
  if (isProblem(opening)) return opening;
  const { session, told } = opening;
  const provider = providers.get(agent.provider);
  if (!provider) return problem("unavailable", `there is no adapter for ${agent.provider}`);
  const given = await readAttachments(kernel.store, request.attachments ?? []);
  if (isProblem(given)) return given;
  const attached = { ...given, pictures: [...told.pictures, ...given.pictures] };
  const files = pictureFiles(agent.takesPaths ? attached.pictures : []);
  const asked = {
    ...requestOf(options, request, session),
    ...(told.text === "" ? {} : { told: told.text }),
    attached,
    picturePaths: files.paths,
  };
  const spec = childSpec(agent, asked);
  if (isProblem(spec)) {
    files.remove();
    return spec;
  }
  const before = session === undefined ? undefined : await counted(kernel, start, session);
  await tracker.swept;
  const input = agent.input(asked);
  const confined = (await options.sandbox?.confineAgent(agent.kind, spec, files.paths)) ?? spec;
  const mayBeLost = session !== undefined;
  const run = new ChildRun(options, start, {
    ...{ agent, provider, spec: confined, before, input, told: told.text, mayBeLost },
  });
  void run.ended.then(() => files.remove());
  return run;
}

export function requestOf(
  { root, env }: ChildOptions,
  { prompt, model, cwd = root }: TurnRequest,
  session?: string,
): AgentRequest {
  return {
    prompt,
    cwd,
    env,
    attached: NOTHING_ATTACHED,
    picturePaths: [],
    ...(model === undefined ? {} : { model }),
    ...(session === undefined ? {} : { session }),
  };
}

/** What the turns of a session add up to so far: where its own counters stand. */
export async function counted(kernel: Kernel, { request }: TurnStart, session: string): Promise<Before> {
  const turns = await kernel.turns(request.conversation);
  if (isProblem(turns)) return {};
  const earlier = turns.filter(
    (turn) => turn.provider === request.provider && (turn.sessionId ?? session) === session,
  );
  return countedIn(earlier);
}

interface Program {
  readonly agent: Agent;
  readonly provider: Provider;
  readonly spec: ChildSpec;
  readonly before: Before | undefined;
  /** What it reads first. */
  readonly input: string;
  /** What of it is not in the conversation's prompt; kept with what it answers. */
  readonly told: string;
  /** It goes on with a session, which it may not have any more. */
  readonly mayBeLost: boolean;
}

class ChildRun implements Trial {
  readonly ended: Promise<RunEnd>;
  readonly mayBeLost: boolean;
  /** All that it said is that it does not have the session: nothing of it is written, and it may be tried again. */
  isLost = false;
  readonly #agent: Agent;
  readonly #child: Child;
  readonly #stream: StreamIngest;
  /** What it says until its first line is whole, where that may be that its session is lost. */
  #held: Uint8Array[] | undefined;
  #stopping: Reason | undefined;
  /** Why it was ended from here, where nobody asked for it. */
  #why: string | undefined;
  /** The provider has said that the turn is over. */
  #isOver = false;
  /** With which error it has. */
  #said: string | undefined;
  /** Requests that the owner has not answered yet, each with the call that it is about. */
  readonly #asked = new Map<string, BlockKey>();
  readonly #watch: AgentWatch;

  constructor(options: ChildOptions, start: TurnStart, program: Program) {
    const { agent, provider, spec, before, input, told, mayBeLost } = program;
    this.mayBeLost = mayBeLost;
    this.#held = mayBeLost ? [] : undefined;
    this.#agent = agent;
    this.#child = new Child(spec, options.tracker, { graceMs: options.graceMs });
    this.#watch = new AgentWatch({
      ...{ env: options.kernel.env, silentMs: options.silentMs, lingerMs: options.lingerMs },
      isAsking: () => this.#asked.size > 0,
      onSilent: (why) => {
        this.#why ??= why;
        this.stop("interrupted");
      },
      onLingering: (why) => {
        if (this.#child.isOver) return; // and how it ended is known
        this.#why ??= why;
        this.#child.kill();
      },
    });
    const cost = new TurnCost(() => options.prices?.table ?? {}, start.request.model);
    this.#stream = new StreamIngest(options.kernel, {
      price: (event) => cost.take(event),
      conversation: start.request.conversation,
      agent: agent.provider,
      turn: start.id,
      provider,
      parent: start.prompt,
      neverAsks: !agent.talks,
      secrets: options.secrets,
      onEvent: (event) => this.#heard(event),
      ...(before === undefined ? {} : { before }),
      ...(told === "" ? {} : { told }),
    });
    this.ended = this.#pump().catch(async (error) => {
      // The boundary of one run: its output could not be kept, so it does not go on unseen.
      this.#child.kill();
      await this.#child.ended;
      this.#watch.close();
      return endUnstored(this.#stream, error);
    });
    this.#child.write(input);
    if (!agent.talks) this.#child.closeInput();
  }

  stop(reason: Reason): void {
    this.#isStopped(reason);
    this.#child.stop();
  }

  kill(reason: Reason): void {
    this.#isStopped(reason);
    this.#child.kill();
  }

  /** An agent that is interrupted may still say so in a result: that it was, not by whom. */
  #isStopped(reason: Reason): void {
    this.#stopping ??= reason;
    const error = this.#why ?? (this.#stopping === "cancelled" ? STOPPED : undefined);
    this.#stream.explain({ reason: this.#stopping, error });
  }

  asks(ask: string): BlockId | undefined {
    const key = this.#asked.get(ask);
    return key === undefined ? undefined : this.#stream.idOf(key);
  }

  /** What only prints cannot be answered; it asks nothing. */
  answer({ ask }: Answer): void {
    this.#asked.delete(ask);
    this.#watch.heard();
  }

  /** From the agent's first byte to its last. */
  async #pump(): Promise<RunEnd> {
    this.#require(await this.#stream.open());
    this.#watch.heard();
    for await (const bytes of this.#child.output()) {
      this.#watch.heard();
      await this.#take(bytes);
    }
    this.#watch.linger(); // it may have closed its output and live on
    const end = await this.#child.ended;
    this.#watch.close();
    const reason = this.#stopping;
    if (await this.#hasLost(end)) return { error: LOST, isExpected: false };
    const known = this.#why ?? explain(end, reason);
    const isLost = this.#agent.lost.test(this.#said ?? known);
    const error = !isLost ? known : this.#isOver ? LOST : `${LOST}\n\n${known}`;
    this.#stream.explain({ reason, error });
    await this.#stream.end();
    // Whoever stopped it knows why; what it said itself needs no explanation either.
    const isExpected = !isLost && (this.#isOver || (reason !== undefined && this.#why === undefined));
    return { error, reason, isExpected };
  }

  async #take(bytes: Uint8Array): Promise<void> {
    if (this.#held === undefined) return this.#require(await this.#stream.push(bytes));
    this.#held.push(bytes);
    const start = Buffer.concat(this.#held);
    const end = start.indexOf("\n");
    if (start.length < FIRST_ERROR_BYTES && end === -1) return;
    if (end !== -1 && this.#agent.lost.test(start.toString("utf8", 0, end))) return this.#closing();
    this.#held = undefined;
    this.#require(await this.#stream.push(start));
  }

  /** An agent whose words cannot be kept, however long they were held, does not go on unseen. */
  #require(lost: Problem | undefined): void {
    if (lost) throw new Error(lost.message);
  }

  /** Whether all it said was that its session is lost. What was held and is something else is taken now. */
  async #hasLost({ stderr }: ChildEnd): Promise<boolean> {
    if (this.#held === undefined) return false;
    const held = Buffer.concat(this.#held);
    const said = held.length === 0 ? stderr : (held.toString("utf8").split("\n", 1)[0] ?? "");
    this.isLost = this.#stopping === undefined && this.#agent.lost.test(said);
    if (this.isLost) await this.#stream.keepAside(held);
    else await this.#stream.push(held);
    return this.isLost;
  }

  #heard(event: BlockEvent): void {
    if (event.type === "block-meta" || event.type === "block-end") this.#heardAsk(event.key, event.metadata);
    if (event.type !== "turn-end" || this.#isOver) return;
    this.#isOver = true;
    this.#said = event.error;
    this.#closing();
  }

  #closing(): void {
    this.#child.closeInput();
    this.#watch.linger(); // some versions go on living after their result
  }

  #heardAsk(key: BlockKey, metadata: JsonObject | undefined): void {
    const ask = askOf(metadata);
    if (ask === undefined) return;
    if (ask.state === "asked") this.#asked.set(ask.id, key);
    else this.#asked.delete(ask.id);
  }
}
