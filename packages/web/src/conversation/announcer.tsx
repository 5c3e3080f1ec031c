/**
 * For those who listen: says when an answer is finished, once, and what its last text was; or how else the turn ended. Never per token.
 */

import type { Reason, View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { useRecord } from "../state/session.tsx";
import { lastAnswer } from "./last-answer.ts";

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
