/**
 * Thinking: dimmed, italic and closed, with the line that it is at and how long it took.
 */
import { formatDuration, isEnded, type Text } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { Markdown } from "../markdown/markdown.tsx";
import { useOpen } from "../state/disclosure.ts";
import { useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { metadataOf, type RendererProps } from "./renderer.ts";

const PREVIEW_CHARS = 160;

export function ThinkingBlock({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  const [isOpen, toggle] = useOpen(block.id, false);
  const { redacted, durationMs } = metadataOf(block, "thinking");
  const isGrowing = !isEnded(block.status);
  const took = durationMs ?? (isGrowing ? undefined : block.updatedAt - block.createdAt);
  const isEmpty = block.chars === 0;
  const word = isGrowing ? "Thinking…" : "Thought";
  if (isEmpty && !isGrowing)
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
        <Icon name="spark" className={isGrowing ? "breathing" : ""} />
        <span className="thinking-word">{word}</span>
        {took !== undefined && took >= 100 && <span className="took">{formatDuration(took)}</span>}
        {!isOpen && <span className="thinking-preview">{preview(text, isGrowing)}</span>}
      </button>
      {isOpen && text && (
        <div className="thinking-body">
          <Markdown text={text} isGrowing={isGrowing} isAppendOnly={!block.promoted} />
        </div>
      )}
    </div>
  );
}

/** The last line while it is being written, the first one afterwards; as it was written, marks and all. */
export function preview(text: Text | undefined, isGrowing: boolean): string {
  if (!text) return "";
  const piece = isGrowing
    ? text.slice(Math.max(0, text.length - PREVIEW_CHARS * 2)).trimEnd()
    : text.slice(0, Math.min(text.length, PREVIEW_CHARS * 2)).trimStart();
  const lines = piece.split("\n").filter((line) => line.trim() !== "");
  const line = (isGrowing ? lines.at(-1) : lines[0]) ?? "";
  return line.trim().slice(0, PREVIEW_CHARS).toWellFormed();
}
