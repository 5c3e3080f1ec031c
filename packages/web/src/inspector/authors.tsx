/**
 * Who wrote which part of a block's present text.
 */

import type { Block } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { type History, writerColor } from "../state/history.ts";
import { useText } from "../state/session.tsx";
import { AUTHORED_CHARS } from "./limits.ts";

export function Authors({ block, history }: { block: Block; history: History }): ReactNode {
  const text = useText(block.id);
  const agents = [...new Set(history.authors.map(({ agent }) => agent ?? "earlier"))];
  if (!text || agents.length < 2 || history.version !== block.version) return null;
  return (
    <div className="authors">
      <p className="legend">
        {agents.map((agent) => (
          <span key={agent} className={`writer writer-${writerColor(agent)}`}>
            {agent}
          </span>
        ))}
      </p>
      <pre className="authored">
        {history.authors
          .filter(({ start }) => start < AUTHORED_CHARS)
          .map(({ start, end, agent }) => (
            <span
              key={start}
              className={`writer-${writerColor(agent ?? "earlier")}`}
              title={agent ?? "earlier"}
            >
              {text.slice(start, Math.min(end, text.length))}
            </span>
          ))}
      </pre>
    </div>
  );
}
