/**
 * The edge between two parts of the page: dragged, or moved by arrow keys; a double click gives the usual width back.
 */
import type { KeyboardEvent, PointerEvent, ReactNode } from "react";

interface ResizerProps {
  readonly label: string;
  readonly width: number;
  readonly least: number;
  readonly most: number;
  readonly usual: number;
  /** Which side of the edge is as wide as this. */
  readonly side: "before" | "after";
  readonly onResize: (width: number) => void;
}

const STEP_PX = 16;

export function Resizer({ label, width, least, most, usual, side, onResize }: ResizerProps): ReactNode {
  const bounded = (wanted: number) => Math.round(Math.min(most, Math.max(least, wanted)));
  const sign = side === "before" ? 1 : -1;
  const drag = (event: PointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.preventDefault();
    const edge = event.currentTarget;
    const { clientX: from } = event;
    edge.setPointerCapture(event.pointerId);
    const move = ({ clientX }: globalThis.PointerEvent) => onResize(bounded(width + (clientX - from) * sign));
    const end = () => {
      edge.removeEventListener("pointermove", move);
      edge.removeEventListener("pointerup", end);
      edge.removeEventListener("pointercancel", end);
    };
    edge.addEventListener("pointermove", move);
    edge.addEventListener("pointerup", end);
    edge.addEventListener("pointercancel", end);
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: STEP_PX, ArrowLeft: -STEP_PX }[event.key];
    if (step === undefined && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    if (step !== undefined) onResize(bounded(width + step * sign));
    else onResize(event.key === "Home" ? least : most);
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: a rule cannot be dragged
    <div
      role="separator"
      className={`resizer ${side}`}
      aria-orientation="vertical"
      aria-label={label}
      aria-valuenow={width}
      aria-valuemin={least}
      aria-valuemax={most}
      tabIndex={0}
      onPointerDown={drag}
      onDoubleClick={() => onResize(usual)}
      onKeyDown={onKey}
    />
  );
}
