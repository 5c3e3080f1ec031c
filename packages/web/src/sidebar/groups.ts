/**
 * How the list is divided: what needs the reader, what runs, then by the day of the last change. Pure; the order inside a group is
 * the list's own.
 */
import { endedState } from "../state/ended-state.ts";
import { needsWords } from "../state/needs-words.ts";
import type { ListedConversation } from "./conversations.ts";

/** A conversation's state, in one word: the first of these that fits. */
type ListedState = "needs" | "running" | "failed" | "stopped" | "interrupted" | "done";

const STATE_WORDS: Readonly<Record<Exclude<ListedState, "needs">, string>> = {
  running: "Running",
  failed: "Failed",
  stopped: "Stopped",
  interrupted: "Interrupted",
  done: "Done",
};

export function stateWords(state: ListedState, isViewer: boolean): string {
  return state === "needs" ? needsWords(isViewer) : STATE_WORDS[state];
}

export function stateOf({ isAsking, isRunning, ended }: ListedConversation): ListedState {
  if (isAsking) return "needs";
  if (isRunning) return "running";
  if (ended === undefined) return "done";
  return endedState(ended);
}

interface Group {
  /** Undefined: it is a day. */
  readonly state: "needs" | "running" | undefined;
  readonly name: string;
  readonly conversations: readonly ListedConversation[];
}

const DAY_MS = 24 * 60 * 60 * 1_000;

export function groupsOf(
  conversations: readonly ListedConversation[],
  now: number,
  isViewer: boolean,
): readonly Group[] {
  const groups = new Map<string, ListedConversation[]>([
    ["needs", []],
    ["running", []],
  ]);
  for (const conversation of conversations) {
    const name = groupOf(conversation, now, isViewer);
    const group = groups.get(name);
    if (group) group.push(conversation);
    else groups.set(name, [conversation]);
  }
  return [...groups]
    .filter(([, members]) => members.length > 0)
    .map(([name, members]) => {
      const state = name === "needs" || name === "running" ? name : undefined;
      return { state, name: state ? stateWords(state, isViewer) : name, conversations: members };
    });
}

/** A failure that the reader has not seen needs them too, if they can do something about it. */
function groupOf(conversation: ListedConversation, now: number, isViewer: boolean): string {
  const state = stateOf(conversation);
  if (state === "failed" && conversation.isUnread && !isViewer) return "needs";
  return state === "needs" || state === "running" ? state : dayOf(conversation.updatedAt, now);
}

/** Today, Yesterday, the last week and month, then by month. */
export function dayOf(at: number, now: number): string {
  const days = Math.round((startOfDay(now) - startOfDay(at)) / DAY_MS);
  if (days <= 0) return "Today";
  if (days === 1) return "Yesterday";
  if (days < 7) return "Last 7 days";
  if (days < 30) return "Last 30 days";
  return new Date(at).toLocaleDateString("en-US", { month: "long", year: "numeric" });
}

function startOfDay(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}
