/**
 * For those who listen: says when an answer is finished, once, and what its last text was; or how else the turn ended. Never per token.
 */

import { isEnded, type Reason, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useRecord } from "../state/session.tsx";
import { SPOKEN_CHARS } from "./limits.ts";

export function Announcer({ view }: { view: View }): ReactNode {
  const record = useRecord(view);
  const running = record?.running.length ?? 0;
  const ended = record?.ended;
  const before = useRef(running);
  const [said, setSaid] = useState("");
  useEffect(() => {
    if (before.current > 0 && running === 0) setSaid(ended === undefined ? lastAnswer(view) : ENDS[ended]);
    before.current = running;
  }, [running, ended, view]);
  return (
    <div className="sr-only" role="status">
      {said}
    </div>
  );
}

const ENDS: Readonly<Record<Reason, string>> = {
  failed: "The turn failed.",
  cancelled: "The turn was stopped.",
  interrupted: "The turn was interrupted.",
  denied: "The turn was denied.",
  retracted: "The turn was retracted.",
  truncated: "The answer was cut off.",
};

function lastAnswer(view: View): string {
  const id = view.order.findLast((known) => {
    const block = view.blocks.get(known);
    return block?.kind === "text" && block.role === "model" && !block.side && isEnded(block.status);
  });
  const text = id === undefined ? undefined : view.texts.get(id)?.slice(0, SPOKEN_CHARS);
  return text ? `Answer finished. ${text}` : "The turn has ended.";
}
