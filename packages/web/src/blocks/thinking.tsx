/**
 * Thinking: one quiet line, its first sentence as it was written, and how long it took; while it is written, its last two lines.
 */

import { firstSentence, formatDuration, isEnded, metadataOf } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { Markdown } from "../markdown/markdown.tsx";
import { useOpen } from "../state/disclosure.ts";
import { useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { THINKING_CHARS, THINKING_TAIL_CHARS } from "./limits.ts";
import { LineMark } from "./line-mark.tsx";
import type { RendererProps } from "./renderer.ts";

export function ThinkingBlock({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  const [isOpen, toggle] = useOpen(block.id, false);
  const { redacted, durationMs } = metadataOf(block, "thinking");
  const isGrowing = !isEnded(block.status);
  const took = durationMs ?? (isGrowing ? undefined : block.updatedAt - block.createdAt);
  if (block.chars === 0 && !isGrowing)
    return (
      <div className="thinking-line">
        <Icon name="spark" />
        <span className="thinking-word">
          {redacted ? "Thought, hidden by the provider" : "Thought, not shown"}
        </span>
      </div>
    );
  return (
    <div className="thinking">
      <button type="button" className="thinking-line" aria-expanded={isOpen} onClick={toggle}>
        <LineMark icon="spark" isOpen={isOpen} isBreathing={isGrowing} />
        <span className={isGrowing || isOpen ? "thinking-word" : "thinking-word sr-only"}>
          {isGrowing ? "Thinking…" : "Thought"}
        </span>
        {!isOpen && !isGrowing && (
          <span className="thinking-preview">
            {text && firstSentence(text.slice(0, Math.min(text.length, THINKING_CHARS)))}
          </span>
        )}
        {took !== undefined && took >= 100 && <span className="took">{formatDuration(took)}</span>}
      </button>
      {!isOpen && isGrowing && (
        <div className="thinking-tail">
          <span>{text?.slice(Math.max(0, text.length - THINKING_TAIL_CHARS)).trim()}</span>
        </div>
      )}
      {isOpen && text && (
        <div className="thinking-body">
          <Markdown text={text} isGrowing={isGrowing} isAppendOnly={!block.promoted} />
        </div>
      )}
    </div>
  );
}
