/** Events in the list of conversations that may be worth a notification. Pure: notifications.ts shows them. */
import { needsWords } from "./needs-words.ts";

export interface Watched {
  readonly id: string;
  readonly title: string;
  readonly isAsking: boolean;
  readonly isRunning: boolean;
  readonly ended: string | undefined;
}

export interface News {
  readonly id: string;
  readonly title: string;
  readonly words: string;
  readonly type: "needs" | "end";
}

/** What has happened between two looks at the list that somebody may want to be told of. Pure. */
export function newsBetween(
  before: ReadonlyMap<string, Watched>,
  now: readonly Watched[],
  isViewer: boolean,
): readonly News[] {
  return now.flatMap((conversation): readonly News[] => {
    const { id, title, isAsking, isRunning, ended } = conversation;
    const known = before.get(id);
    const named = { id, title: title || "Untitled" };
    if (isAsking && known?.isAsking !== true)
      return [{ ...named, words: needsWords(isViewer), type: "needs" }];
    if (!known?.isRunning || isRunning) return [];
    if (ended === "cancelled") return [];
    return [{ ...named, words: ended === undefined ? "Turn finished" : "Turn failed", type: "end" }];
  });
}
