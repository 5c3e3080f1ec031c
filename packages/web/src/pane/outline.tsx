/** The outline: every prompt of the conversation, with how its turn went, to go there. */

import { type BlockId, isProblem, type Turn, type View } from "@blockyard/kernel";
import { type KeyboardEvent, type ReactNode, useEffect, useState } from "react";
import { lateAsks } from "../rows/late-asks.ts";
import { endedState } from "../state/ended-state.ts";
import { useOrder, useRecord, useSession, useViewState } from "../state/session.tsx";
import { type MarkedState, StateMark } from "../ui/state-mark.tsx";
import { jumpTo } from "./jump.ts";
import { OUTLINE_BLOCKS } from "./limits.ts";

interface Prompt {
  readonly id: BlockId;
  readonly words: string;
  /** Of one that is not loaded, as the server names it. */
  readonly turn?: string | undefined;
}

export function Outline({ view }: { view: View }): ReactNode {
  const prompts = usePrompts(view);
  useRecord(view);
  if (prompts === undefined) return <p className="pane-note">Loading…</p>;
  if (prompts.length === 0) return <p className="pane-note">No prompts yet.</p>;
  return (
    <ol className="outline" aria-label="Turns" onKeyDown={walk}>
      {prompts.map(({ id, words, turn }, i) => (
        <li key={id}>
          <button type="button" onClick={() => jumpTo(id)}>
            <span className="outline-no">{i + 1}</span>
            <span className="outline-words">{words || "Untitled"}</span>
            <Mark view={view} prompt={id} listed={turn} isLast={i === prompts.length - 1} />
          </button>
        </li>
      ))}
    </ol>
  );
}

interface MarkProps {
  readonly view: View;
  readonly prompt: BlockId;
  readonly listed: string | undefined;
  readonly isLast: boolean;
}

function Mark({ view, prompt, listed, isLast }: MarkProps): ReactNode {
  const turn = view.blocks.get(prompt)?.metadata.turn ?? listed;
  const known = turn === undefined ? undefined : view.turns.get(turn);
  if (!known) return null;
  const asks = isLast && [...(view.record?.asking ?? []), ...lateAsks(view)].length > 0;
  return <StateMark state={asks ? "needs" : stateOfTurn(known)} />;
}

function stateOfTurn({ status, reason }: Turn): MarkedState {
  if (status !== "error") return status;
  return endedState(reason);
}

/** The loaded prompts, and later those that the server names. */
function usePrompts(view: View): readonly Prompt[] | undefined {
  const session = useSession();
  const order = useOrder(view);
  const { isOpen, more } = useViewState(view);
  const [listed, setListed] = useState<readonly Prompt[] | undefined>(undefined);
  const isAsked = isOpen && more && listed === undefined;
  useEffect(() => {
    if (!isAsked) return;
    let isOver = false;
    const request = { conversation: view.conversation, kind: "text", limit: OUTLINE_BLOCKS } as const;
    void session.ask("block.list", request).then((answer) => {
      if (isOver) return;
      const blocks = isProblem(answer) ? [] : answer.blocks;
      setListed(
        blocks
          .filter(({ role, side }) => role === "user" && !side)
          .map(({ block_id: id, summary: words, turn }) => ({ id, words, turn })),
      );
    });
    return () => {
      isOver = true;
    };
  }, [session, view, isAsked]);
  if (!isOpen || isAsked) return undefined;
  const here = order.flatMap((id) => {
    const block = view.blocks.get(id);
    if (block?.kind !== "text" || block.role !== "user" || block.side) return [];
    return [{ id, words: firstLine(view.texts.get(id)?.slice(0, 200).toString() ?? "") }];
  });
  const known = new Map(
    [...(listed ?? []), ...here.filter(({ words }) => words !== "")].map((prompt) => [prompt.id, prompt]),
  );
  for (const prompt of here) if (!known.has(prompt.id)) known.set(prompt.id, prompt);
  return [...known.values()];
}

function firstLine(text: string): string {
  return (
    text
      .split("\n")
      .find((line) => line.trim() !== "")
      ?.trim() ?? ""
  );
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 };

function walk(event: KeyboardEvent<HTMLElement>): void {
  const step = STEPS[event.key];
  if (step === undefined || event.ctrlKey || event.metaKey) return;
  const all = [...event.currentTarget.querySelectorAll("button")];
  const at = all.indexOf(document.activeElement as HTMLButtonElement);
  if (at === -1) return;
  event.preventDefault();
  all[Math.max(0, Math.min(all.length - 1, at + step))]?.focus();
}
