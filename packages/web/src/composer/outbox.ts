/**
 * Prompts in flight to the server, by conversation: one after the other, in the order in which they were sent. If one
 * is refused, those after it return with it, so that none overtakes it. Those after the first prompt of a conversation
 * go to the conversation that it created.
 */
import type { ConversationId } from "@blockyard/kernel";
import { Cell, useCell } from "../state/cell.ts";
import { changeDraft, joined, moveDraft, type Place } from "./drafts.ts";

interface Letter {
  /** As it was written. */
  readonly text: string;
  /** The conversation that has it; undefined if it was not taken. */
  send(to: Place): Promise<ConversationId | undefined>;
  /** It has arrived, or is in the field again. */
  end(isSent: boolean): void;
}

const outbox = new Cell<ReadonlyMap<Place, readonly Letter[]>>(new Map());
const NONE: readonly Letter[] = [];

export function useLetters(place: Place): readonly Letter[] {
  return useCell(outbox).get(place) ?? NONE;
}

/** `onMade`: the first one has made its conversation. */
export function post(place: Place, letter: Letter, onMade: (made: ConversationId) => void): void {
  const waiting = lettersOf(place);
  put(place, [...waiting, letter]);
  if (waiting.length === 0) void deliver(place, onMade);
}

async function deliver(first: Place, onMade: (made: ConversationId) => void): Promise<void> {
  let place = first;
  for (;;) {
    const [letter] = lettersOf(place);
    if (!letter) return;
    const arrived = await letter.send(place);
    if (arrived === undefined) return giveBack(place);
    letter.end(true);
    const rest = lettersOf(place).slice(1);
    put(place, place === undefined ? [] : rest);
    if (place !== undefined) continue;
    // Those that are sent in it meanwhile stand behind these.
    put(arrived, [...rest, ...lettersOf(arrived)]);
    moveDraft(place, arrived);
    onMade(arrived);
    place = arrived;
  }
}

/** In front of what was written meanwhile, also where the reader is at another conversation by now. */
function giveBack(place: Place): void {
  const letters = lettersOf(place);
  put(place, []);
  changeDraft(place, (now) => [...letters.map(({ text }) => text), now].reduce(joined));
  for (const letter of letters) letter.end(false);
}

function lettersOf(place: Place): readonly Letter[] {
  return outbox.get().get(place) ?? NONE;
}

function put(place: Place, letters: readonly Letter[]): void {
  outbox.change((all) => new Map(all).set(place, letters));
}
