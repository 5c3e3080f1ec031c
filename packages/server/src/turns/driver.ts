/**
 * The port of agents. A driver runs turns of one provider, in its agent's protocol: it starts a run for a turn (or
 * continues with an agent that stays alive between turns), and says what the agent can do. Turns (turns.ts) decide when
 * a turn begins and ends; a driver never does.
 *
 * A run has no function for what its agent cannot do, and `abilities` tells the page and the command in advance.
 */

import type { AgentId, AskKind, ConversationId, Env, Problem } from "@blockyard/kernel";
import { MODEL_MS } from "./limits.ts";
import type { Mode, SandboxChoice } from "./mode.ts";
import type { AgentTask, Run, TurnRequest, TurnStart } from "./run.ts";

/** An agent's abilities here. */
export interface Abilities {
  /** It resumes a session of its own in a later turn. */
  readonly resumes: boolean;
  /** Its process lives on between turns, for a while. */
  readonly staysAlive: boolean;
  /** What it asks before it continues. */
  readonly asks: readonly AskKind[];
  /** Its asks offer rules, which it stores itself. */
  readonly rules: boolean;
  readonly modes: readonly Mode[];
  /** How it can be told to confine its commands, in any mode. */
  readonly sandboxes: readonly SandboxChoice[];
  /** When a message reaches it while it works: at its next step, or not before its turn is over. */
  readonly steering: "step" | "turn";
  /** What can be changed while it works. */
  readonly midTurn: readonly ("mode" | "model" | "effort")[];
  /** Its background tasks can be stopped. */
  readonly stopsTasks: boolean;
  /** It states its slash commands and skills, its models, and its context usage. */
  readonly commands: boolean;
  readonly models: boolean;
  readonly usage: boolean;
  /** How hard a model thinks can be chosen. */
  readonly efforts: boolean;
  /** It tells the limits of its account, and the state of its MCP servers. */
  readonly limits: boolean;
  readonly servers: boolean;
}

export interface AgentCommand {
  /** Without the slash. */
  readonly name: string;
  readonly description: string;
  /** What may follow it. */
  readonly hint?: string | undefined;
}

export interface AgentModel {
  /** What `model` of a turn takes. */
  readonly id: string;
  readonly name: string;
  readonly description?: string | undefined;
  readonly efforts?: readonly string[] | undefined;
}

/** How full the context is: the size of the last request, and the limit. */
export interface ContextUsage {
  readonly usedTokens: number;
  readonly windowTokens: number;
  readonly parts?: readonly { readonly name: string; readonly tokens: number }[] | undefined;
}

/** How much of an account's limit is used, and when it resets. */
export interface AccountLimit {
  readonly name: string;
  readonly usedPercent: number;
  /** Milliseconds since 1970. */
  readonly resetsAt?: number | undefined;
}

/** An MCP server of the agent's own. */
export interface AgentServer {
  readonly name: string;
  readonly status: string;
  readonly error?: string | undefined;
}

/** Whether somebody is logged in to an agent, as it reports itself without asking a model. */
export interface Login {
  readonly state: "in" | "out" | "unknown";
  /** The account: a plan, a key. */
  readonly account?: string | undefined;
  /** What to do if nobody is. */
  readonly how?: string | undefined;
}

/** What an agent offers in a conversation; what it does not state is absent. */
export interface Offers {
  readonly mode?: Mode | undefined;
  readonly model?: string | undefined;
  readonly effort?: string | undefined;
  readonly commands?: readonly AgentCommand[] | undefined;
  readonly models?: readonly AgentModel[] | undefined;
  readonly usage?: ContextUsage | undefined;
  readonly tasks?: readonly AgentTask[] | undefined;
  /** Sub-agents that it can start. */
  readonly agents?: readonly { readonly name: string; readonly description: string }[] | undefined;
  readonly limits?: readonly AccountLimit[] | undefined;
  readonly servers?: readonly AgentServer[] | undefined;
}

/** One provider of turns. */
export interface Driver {
  readonly provider: string;
  readonly abilities: Abilities;
  /** How to get full access, if it could have it and does not. */
  readonly fullNeeds?: string;
  /** Why it cannot run, before anything is written; it names what to do about it. */
  check(request: TurnRequest): Problem | undefined;
  /** The only folder in which it can work, if there is such a limit. */
  readonly folder?: string;
  start(start: TurnStart): Promise<Run | Problem>;
  /** Why it would refuse this model or effort, asked of the agent before anything is written. */
  refusesModel?(request: TurnRequest): Promise<Problem | undefined>;
  /** Asked of the agent in this folder, without a model. */
  login?(cwd: string): Promise<Login>;
  /** What the conversation's agent offers now. May start the agent to find out, in this folder. */
  offers?(conversation: ConversationId, cwd: string): Promise<Offers | Problem>;
  /** What its agents run in the background between the turns of a conversation. */
  tasks?(conversation: ConversationId): readonly AgentTask[];
  stopTask?(conversation: ConversationId, task: string): Promise<Problem | undefined>;
  /** `wake`: a waiting agent has begun something by itself. It gets a turn without a prompt (`isOwn`). */
  onWake?(wake: (conversation: ConversationId, by: AgentId) => void): void;
  /** Whether one has, and has no turn yet. */
  isAwake?(conversation: ConversationId): boolean;
  /** Ends what lives on between turns: of one conversation, or all of it. */
  close?(conversation?: ConversationId): Promise<void>;
}

/** A model or an effort that the agent reports as unknown. An agent that does not report it soon finds out in the turn. */
export function refusesModel(env: Env, driver: Driver, request: TurnRequest): Promise<Problem | undefined> {
  const isChosen = request.model !== undefined || request.effort !== undefined;
  const asked = isChosen ? driver.refusesModel?.(request) : undefined;
  if (asked === undefined) return Promise.resolve(undefined);
  return new Promise((resolve, reject) => {
    const cancel = env.after(MODEL_MS, () => resolve(undefined));
    asked.finally(cancel).then(resolve, reject);
  });
}
