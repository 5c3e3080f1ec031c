/** What is known of one process of Claude Code while its traffic is read. */

import type { Json, JsonObject } from "@blockyard/kernel";
import type { Before } from "../adapter.ts";
import { newState, type State } from "../claude/state.ts";

/** A message of the host that the agent has not read yet. */
export interface Sent {
  readonly id: string | undefined;
  readonly line: JsonObject;
}

export interface Process {
  readonly name: string;
  /** How many of this name came before. */
  readonly earlier: number;
  readonly claude: State;
  /** Oldest first. */
  waiting: Sent[];
  /** Ids and words of messages that were sent, for lines that repeat them and for ids that are used again. */
  readonly seen: Set<string>;
  /** Unanswered requests of the host: the subject of each. */
  readonly asked: Map<string, string>;
  /** A turn of it runs. */
  isBusy: boolean;
  hasResult: boolean;
  isEnded: boolean;
  stderr: string;
}

/** A session's own counters. */
interface Counted {
  readonly costUsd: number;
  readonly apiMs: number | undefined;
  readonly models: JsonObject | undefined;
}

export interface Control {
  readonly run: string;
  readonly before: Before;
  readonly processes: Map<string, Process>;
  readonly costs: Map<string, Counted>;
}

export function processOf(state: Control, run: Json | undefined): Process {
  const name = typeof run === "number" && run > 0 ? String(run) : "";
  const known = state.processes.get(name);
  if (known !== undefined) return known;
  const made = newProcess(state, name);
  state.processes.set(name, made);
  return made;
}

export function newProcess({ run, before }: Control, name: string, earlier = 0): Process {
  const own = earlier === 0 ? name : `${name}.${earlier}`;
  return {
    name,
    earlier,
    claude: newState(own === "" ? run : `${run}/${own}`, own === "" ? before : {}),
    waiting: [],
    seen: new Set(),
    asked: new Map(),
    isBusy: false,
    hasResult: false,
    isEnded: false,
    stderr: "",
  };
}
