/**
 * Who is asked and how: agent, model, effort, mode, sandbox. Remembered in this browser for each conversation, and for the
 * workspace, so that the next conversation begins as the last choice was.
 */

import type { ToolInput } from "@blockyard/client";
import type { ConversationId } from "@blockyard/kernel";
import { useEffect } from "react";
import { capabilities, takes, workspaceRoot } from "../state/capabilities.ts";
import { Cell, useCell } from "../state/cell.ts";
import type { AgentFacts, Mode } from "./agents.ts";
import { CHOICE_PLACES } from "./limits.ts";

/** The choices for one agent. Empty: the agent's own. */
interface AgentChoice {
  readonly model?: string;
  readonly effort?: string;
  readonly mode?: Mode;
  /** The conversation's mode when that one was chosen; none once the server has it. */
  readonly over?: string | undefined;
  readonly sandbox?: string;
}

interface Kept {
  readonly provider?: string;
  readonly agents?: { readonly [provider: string]: AgentChoice };
}

/** By conversation, and by the folder of the workspace; the one chosen last is the last. */
type Choices = { readonly [place: string]: Kept };

const KEY = "blockyard.choices";
/** Where choices wait that were made before the page knew its folder. */
const UNKNOWN_FOLDER = folderOf("");
const choices = new Cell<Choices>(load());
/** Until the page knows which agents there are. */
const UNKNOWN_AGENT = "claude";

/** The settings of the conversation's last turn. */
export interface Last {
  readonly provider?: string | undefined;
  readonly mode?: Mode | undefined;
}

export interface Chosen extends Omit<AgentChoice, "mode"> {
  readonly mode: Mode | undefined;
  readonly provider: string;
  /** Another agent for this place. */
  ask(provider: string): void;
  choose(change: AgentChoice): void;
}

/**
 * The agent here: the one chosen here; else the last one used here, so that a conversation stays with its agent; else
 * the last one chosen in this workspace. Each only if the server has it.
 */
export function useChosen(
  conversation: ConversationId | undefined,
  last: Last,
  agents: readonly AgentFacts[],
): Chosen {
  const all = useCell(choices);
  const root = useCell(workspaceRoot) ?? "";
  const providers = useCell(capabilities)?.providers ?? agents.map(({ provider }) => provider);
  const here = conversation === undefined ? undefined : all[conversation];
  const usual = all[folderOf(root)];
  const asked = agentOf([here?.provider, last.provider, usual?.provider], providers, agents);
  const own = here?.agents?.[asked] ?? usual?.agents?.[asked] ?? {};
  const { modes = [] } = agents.find((agent) => agent.provider === asked)?.abilities ?? {};
  // The server keeps a conversation's mode, for every window: a later choice here counts until the server has received it.
  const isNewer = own.over === (last.mode ?? "") || last.mode === undefined;
  const mode = (isNewer ? [own.mode, last.mode] : [last.mode]).find(
    (each) => each !== undefined && modes.includes(each),
  );
  useHeard(conversation, asked, last.mode, here?.agents?.[asked]);
  const put = (change: (before: Kept) => Kept) =>
    keep([...(conversation === undefined ? [] : [conversation]), folderOf(root)], change);
  return {
    ...own,
    mode: mode ?? usualMode(modes),
    provider: asked,
    ask: (next) => put((before) => ({ ...before, provider: next })),
    choose: (change) =>
      put((before) => ({
        ...before,
        agents: { ...before.agents, [asked]: { ...own, ...before.agents?.[asked], ...marked(change, last) } },
      })),
  };
}

/** Once the server has a choice, its value counts: also if the mode changes back later. */
function useHeard(
  conversation: ConversationId | undefined,
  provider: string,
  heard: Mode | undefined,
  own: AgentChoice | undefined,
): void {
  const isHeard = own?.over !== undefined && own.mode !== undefined && own.mode === heard;
  useEffect(() => {
    if (!isHeard || conversation === undefined) return;
    keep([conversation], (before) => ({
      ...before,
      agents: { ...before.agents, [provider]: { ...before.agents?.[provider], over: undefined } },
    }));
  }, [isHeard, conversation, provider]);
}

/** The fields of turn.start. An agent without modes gets none. */
export function requestOf(
  { provider, model, effort, mode, sandbox }: Chosen,
  agents: readonly AgentFacts[],
): Pick<ToolInput<"turn.start">, "provider" | "model" | "mode" | "sandbox"> {
  const { modes = [], sandboxes = [] } = agents.find((agent) => agent.provider === provider)?.abilities ?? {};
  const confined = sandboxes.find((each) => each === sandbox);
  return {
    provider,
    ...(model ? { model } : {}),
    ...(effort && takes("turn.start", "effort") ? { effort } : {}),
    ...(mode !== undefined && modes.length > 1 ? { mode } : {}),
    ...(confined === undefined ? {} : { sandbox: confined }),
  };
}

function marked(change: AgentChoice, { mode }: Last): AgentChoice {
  return change.mode === undefined ? change : { ...change, over: mode ?? "" };
}

function usualMode(modes: readonly Mode[]): Mode | undefined {
  return modes.includes("ask") ? "ask" : modes[0];
}

/** The first choice that the server has; if nothing was chosen yet, the first agent that can work on this machine. */
export function agentOf(
  wished: readonly (string | undefined)[],
  providers: readonly string[],
  agents: readonly Pick<AgentFacts, "provider" | "problem">[],
): string {
  const isReady = (name: string) =>
    agents.some(({ provider, problem }) => provider === name && problem === undefined);
  return (
    wished.find((name) => name !== undefined && providers.includes(name)) ??
    providers.find(isReady) ??
    providers[0] ??
    UNKNOWN_AGENT
  );
}

function folderOf(root: string): string {
  return `folder ${root}`;
}

workspaceRoot.listen(() => {
  const root = workspaceRoot.get();
  const { [UNKNOWN_FOLDER]: early, ...others } = choices.get();
  if (root === undefined || early === undefined) return;
  choices.set(others);
  keep([folderOf(root)], ({ agents, ...before }) => ({
    ...before,
    ...early,
    agents: { ...agents, ...early.agents },
  }));
});

function keep(places: readonly string[], change: (before: Kept) => Kept): void {
  choices.change((all) => {
    const next = { ...all };
    for (const place of places) {
      const before = next[place] ?? {};
      delete next[place];
      next[place] = change(before);
    }
    return Object.fromEntries(Object.entries(next).slice(-CHOICE_PLACES));
  });
  try {
    localStorage.setItem(KEY, JSON.stringify(choices.get()));
  } catch {
    // A browser that stores nothing still works; it only forgets.
  }
}

function load(): Choices {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    if (typeof kept !== "object" || kept === null || Array.isArray(kept)) return {};
    // The folder they were made for is unknown by now.
    const { [UNKNOWN_FOLDER]: _, ...known } = kept as Choices;
    return known;
  } catch {
    return {};
  }
}
