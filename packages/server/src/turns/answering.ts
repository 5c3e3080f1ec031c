/**
 * Answers to agents' requests: a person's, or a rule's. Each ask is answered once, by whoever is first, and the answer
 * is written before the agent gets it.
 *
 * An ask outlives its server: if the server stopped while it was open, the answer is the agent's next message, in its
 * session, and what was allowed is not asked for a second time.
 */

import {
  type AgentId,
  type Ask,
  askOf,
  type Block,
  type BlockId,
  type ConversationId,
  type Draft,
  ITSELF,
  isAnswerableLate,
  isAsked,
  isProblem,
  type JsonObject,
  type Kernel,
  lateAsk,
  type Problem,
  problem,
  type WholeBlock,
} from "@blockyard/kernel";
import type { Secrets } from "../ingest/secrets.ts";
import { deedOf, lateMode, lateText, withPlan } from "./late-answer.ts";
import type { ModeWatch } from "./mode-watch.ts";
import { readPlan } from "./read-plan.ts";
import { refusalText } from "./refusal.ts";
import { isOwnSuggestion, type Rules } from "./rules/rules.ts";
import type { Run, TurnRequest, TurnStart } from "./run.ts";
import { chosenIn } from "./switched.ts";
import { answeredAsk, checkAnswer, checkPlan, type Given, stateAfter, writeAnswer } from "./write-answer.ts";

export type Answered = { readonly state: "allowed" | "denied" | "answered" } | Problem;

interface Live {
  readonly start: TurnStart;
  readonly run: Run;
  /** Knows what the owner has allowed. */
  readonly mode: Pick<ModeWatch, "answered">;
}

interface AnsweringOptions {
  readonly kernel: Kernel;
  readonly rules: Rules | undefined;
  /** The original request, if it is stored in another form. */
  readonly secrets?: Secrets | undefined;
  readonly liveIn: (conversation: ConversationId) => Live | undefined;
  /** Starts the turn in which an agent gets an answer that comes late; `also` is written with its prompt, or nothing is. */
  readonly start: (
    by: AgentId,
    request: TurnRequest,
    also: (draft: Draft) => Problem | undefined,
  ) => Promise<Problem | undefined>;
}

/** What was allowed before a restart, for the turn that continues. */
interface Leave {
  readonly by: AgentId;
  /** The exact request. */
  readonly deed: string;
}

/** An ask is emitted when it is committed; the run that wrote it may know its block a moment later. */
const ASKED_MS: readonly number[] = [5, 20, 100, 500, 2_000];

export class Answering {
  readonly #options: AnsweringOptions;
  readonly #leaves = new Map<ConversationId, Leave>();

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  /** Answers a running agent's ask; once. */
  async answer(by: AgentId, block: BlockId, ask: string, given: Given): Promise<Answered> {
    const { kernel, rules, liveIn } = this.#options;
    const conversation = block.split("/", 1)[0] ?? "";
    const live = liveIn(conversation);
    if (live === undefined) return this.#late(by, block, ask, given);
    const asking = await kernel.block(block);
    const shown = isProblem(asking) ? undefined : askOf(asking.metadata);
    // A rule is stored before its first answer is sent: the promise holds even if the process dies in between.
    const place = { conversation, cwd: live.start.request.cwd ?? "" };
    const taken = given.answer?.suggestion;
    const kept = shown?.id === ask && shown.state === "asked" && rules?.keep(by, shown, taken, place);
    if (isProblem(kept)) return kept;
    const answered = await this.#give(by, live, block, ask, given);
    if (isProblem(answered)) for (const { id } of kept || []) rules?.remove(id);
    else if (kept && kept.length > 0) this.applyRules(conversation);
    return answered;
  }

  /** Asks just written that a rule answers. */
  heard(conversation: ConversationId, blocks: readonly Block[]): void {
    const live = this.#options.liveIn(conversation);
    if (live === undefined) return;
    for (const block of blocks) if (isAsked(block.metadata)) void this.#byRule(live, block);
  }

  /** Rules have changed, or a run has begun: open asks may be answered now. */
  applyRules(conversation: ConversationId): void {
    void this.#sweep(conversation);
  }

  /** The turn is over: its allowances no longer count. */
  over(conversation: ConversationId): void {
    this.#leaves.delete(conversation);
  }

  async #sweep(conversation: ConversationId): Promise<void> {
    const { kernel, liveIn } = this.#options;
    const record = await kernel.conversation(conversation);
    if (isProblem(record) || liveIn(conversation) === undefined) return;
    const asking = await Promise.all((record.asking ?? []).map((id) => kernel.block(id)));
    this.heard(
      conversation,
      asking.flatMap((block) => (isProblem(block) ? [] : [block])),
    );
  }

  async #byRule(live: Live, { id, conversation, metadata }: Block): Promise<void> {
    const ask = this.#asked(live, askOf(metadata) as Ask);
    const { cwd } = live.start.request;
    const leave = this.#leaveFor(conversation, ask);
    const rule =
      leave !== undefined || cwd === undefined
        ? undefined
        : this.#options.rules?.decide(ask, { conversation, cwd });
    const decided = leave === undefined ? rule : { allow: true, by: leave.by };
    if (decided === undefined) return;
    const message = decided.allow ? undefined : `A rule of the user denies ${rule?.words}.`;
    const given = { allow: decided.allow, message };
    for (const waitMs of [...ASKED_MS, 0]) {
      const answered = await this.#give(decided.by, live, id, ask.id, given, rule?.words);
      if (!isProblem(answered) || answered.details?.["state"] !== undefined) return;
      if (this.#options.liveIn(conversation) !== live) return;
      await new Promise<void>((again) => this.#options.kernel.env.after(waitMs, again));
    }
  }

  /** As the agent has sent it: the stored form may lack secrets. */
  #asked({ start }: Live, ask: Ask): Ask {
    return this.#options.secrets?.asked(start.id, ask) ?? ask;
  }

  /** Who has allowed it before the restart: their answer, and no rule. */
  #leaveFor(conversation: ConversationId, ask: Ask): Leave | undefined {
    const leave = this.#leaves.get(conversation);
    if (leave === undefined || ask.kind !== "permission" || leave.deed !== deedOf(ask)) return undefined;
    this.#leaves.delete(conversation);
    return leave;
  }

  async #give(
    by: AgentId,
    live: Live,
    block: BlockId,
    ask: string,
    given: Given,
    rule?: string,
  ): Promise<Answered> {
    const { kernel } = this.#options;
    const said = given.message?.trim() ? given.message : undefined;
    const asking = await kernel.block(block);
    const open = isProblem(asking) ? undefined : askOf(asking.metadata);
    const plan = await this.#plan(by, open, given);
    if (isProblem(plan)) return plan;
    const full = open === undefined ? given : withPlan(open, given, plan?.text);
    const answered = await kernel.writeBlock(block, {
      agent: by,
      plan: (draft) => writeAnswer(draft, block, ask, { ...full, message: said }, live.run, { rule, plan }),
    });
    if (isProblem(answered)) return answered;
    const shown = this.#asked(live, answered.ask);
    const byRule = rule !== undefined;
    live.mode.answered({ allow: given.allow, byRule, shown, answer: given.answer });
    live.run.answer({
      ...{ ask, allow: given.allow, shown, input: shown.input ?? null, said, byRule },
      answer: forAgent(given),
      message: rule === undefined || said === undefined ? refusalText(said) : said,
      plan: plan?.text,
    });
    return { state: stateAfter(shown, given) };
  }

  /** The plan that is approved, where one is. */
  async #plan(by: AgentId, ask: Ask | undefined, given: Given): Promise<WholeBlock | undefined | Problem> {
    if (ask?.plan === undefined || !given.allow) return undefined;
    return readPlan(this.#options.kernel, ask.plan, by, given.planVersion);
  }

  /** An answer to an ask from before a restart. */
  async #late(by: AgentId, block: BlockId, id: string, given: Given): Promise<Answered> {
    const { kernel } = this.#options;
    const asking = await kernel.block(block);
    if (isProblem(asking)) return asking;
    const { conversation, metadata } = asking;
    const asked = askOf(metadata);
    if (asked?.id !== id) return problem("not_found", `block ${block} has no request ${id}`);
    // Stored with all that was offered; what only the process of then could carry out is not.
    const ask = lateAsk(asked);
    if (ask.state !== "expired" && ask.state !== "asked")
      return problem("conflict", `this request was already ${ask.state}`, { state: ask.state });
    const gone = problem("gone", "the agent that asked is no longer running");
    const turns = await kernel.turns(conversation);
    if (isProblem(turns)) return turns;
    const turn = turns.at(-1);
    // Only turns that a restart has cut off: whoever stopped the turn wanted no answer.
    if (turn === undefined || !isAnswerableLate(ask, metadata.turn, turn)) return gone;
    const wrong = checkAnswer(ask, given);
    if (wrong) return wrong;
    const record = await kernel.conversation(conversation);
    if (isProblem(record)) return record;
    const plan = await this.#plan(by, ask, given);
    if (isProblem(plan)) return plan;
    const { cwd } = record.metadata;
    const mode = lateMode(ask, given);
    const request: TurnRequest = {
      ...{ conversation, provider: turn.provider },
      prompt: lateText(ask, given, plan?.text),
      author: ITSELF,
      ...(mode === undefined ? {} : { mode }),
      ...(cwd === undefined ? {} : { cwd }),
      ...chosenIn(record.metadata, turn),
    };
    const taken = given.answer?.suggestion;
    const kept = cwd === undefined ? [] : this.#options.rules?.keep(by, ask, taken, { conversation, cwd });
    if (isProblem(kept)) return kept;
    if (given.allow && ask.kind === "permission") this.#leaves.set(conversation, { by, deed: deedOf(ask) });
    const refused = await this.#options.start(by, request, (draft) => {
      const now = draft.block(block);
      if (isProblem(now)) return now;
      const state = askOf(now.metadata)?.state;
      if (state !== ask.state) return problem("conflict", `this request was already ${state}`, { state });
      const edited = checkPlan(draft, plan);
      if (edited) return edited;
      const answered = answeredAsk(draft, asked, withPlan(ask, given, plan?.text));
      const after = draft.meta(block, { ask: answered as JsonObject });
      return isProblem(after) ? after : undefined;
    });
    if (refused === undefined) return { state: stateAfter(ask, given) };
    this.#leaves.delete(conversation);
    for (const { id } of kept ?? []) this.#options.rules?.remove(id);
    return refused;
  }
}

/** Without our own options: the agent knows nothing of our rules. */
function forAgent({ answer }: Given): Given["answer"] {
  if (!isOwnSuggestion(answer?.suggestion)) return answer;
  const { suggestion: _own, ...rest } = answer ?? {};
  return rest;
}
