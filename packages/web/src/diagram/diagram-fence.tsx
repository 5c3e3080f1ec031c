/**
 * A fenced Mermaid source: shown as code until somebody asks for the diagram. Then the drawing replaces the code, in
 * the colours of the theme; if it cannot be drawn, the code stays and the reason is above it.
 *
 * The drawing code is loaded with the first click. Drawings are cached, so that a row that comes back has the same
 * height.
 */

import { type ReactNode, useEffect, useRef, useState } from "react";
import { CodeFence } from "../highlight/code-fence.tsx";
import { useIsDark } from "../state/preferences.ts";
import { MISSING } from "../ui/later.tsx";
import type { Drawing } from "./draw.ts";
import { KEPT_DRAWINGS } from "./limits.ts";

const kept = new Map<string, Drawing>();
/** Sources whose diagram is shown, for rows that leave the screen and come back. */
const shown = new Set<string>();

interface DiagramFenceProps {
  readonly text: string;
  /** It is still being written. */
  readonly isOpen: boolean;
}

export function DiagramFence({ text, isOpen }: DiagramFenceProps): ReactNode {
  const [isShown, setShown] = useState(() => shown.has(text));
  const place = useRef<HTMLDivElement>(null);
  const drawing = useDrawing(text, isShown && !isOpen, place);
  const toggle = () => {
    if (isShown) shown.delete(text);
    else shown.add(text);
    setShown(!isShown);
  };
  const button = isOpen ? null : (
    <button type="button" className="fence-tool" aria-expanded={isShown} onClick={toggle}>
      {isShown ? "Hide diagram" : "Show diagram"}
    </button>
  );
  const isDrawn = isShown && drawing !== undefined && "url" in drawing;
  return (
    <div ref={place}>
      <CodeFence
        text={text}
        language="mermaid"
        isOpen={isOpen}
        tools={button}
        instead={isDrawn ? <Picture drawing={drawing} source={text} /> : undefined}
        note={isShown && !isDrawn && !isOpen ? <Note drawing={drawing} /> : undefined}
      />
    </div>
  );
}

function Picture({
  drawing,
  source,
}: {
  drawing: Extract<Drawing, { readonly url: string }>;
  source: string;
}): ReactNode {
  const [kind = ""] = source.trim().split(/\s/, 1);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="diagram" tabIndex={0} aria-label="diagram">
      <img src={drawing.url} alt={`Diagram: ${kind}`} width={drawing.width} height={drawing.height} />
    </section>
  );
}

function Note({ drawing }: { drawing: Drawing | undefined }): ReactNode {
  const isFailed = drawing !== undefined && "error" in drawing;
  return (
    <p className={isFailed ? "diagram-note failed" : "diagram-note"} role="status">
      {isFailed ? drawing.error : "Drawing…"}
    </p>
  );
}

/** The drawing of a source, as soon as it is there; until then the one in the other theme, if there is one. */
function useDrawing(
  source: string,
  isWanted: boolean,
  place: { readonly current: HTMLElement | null },
): Drawing | undefined {
  const isDark = useIsDark();
  const key = keyOf(source, isDark);
  const [, setDone] = useState("");
  useEffect(() => {
    if (!isWanted || kept.has(key) || !place.current) return;
    let isOver = false;
    void drawn(source, isDark, place.current).then((made) => {
      keep(key, made);
      if (!isOver) setDone(key);
    });
    return () => {
      isOver = true;
    };
  }, [source, key, isDark, isWanted, place]);
  return isWanted ? (kept.get(key) ?? kept.get(keyOf(source, !isDark))) : undefined;
}

async function drawn(source: string, isDark: boolean, place: HTMLElement): Promise<Drawing> {
  try {
    const { drawDiagram } = await import("./draw.ts");
    return await drawDiagram(source, isDark, place);
  } catch {
    return { error: MISSING };
  }
}

function keyOf(source: string, isDark: boolean): string {
  return `${isDark ? "dark" : "light"} ${source}`;
}

function keep(key: string, drawing: Drawing): void {
  kept.set(key, drawing);
  const [oldest] = kept.keys();
  if (kept.size > KEPT_DRAWINGS && oldest !== undefined) kept.delete(oldest);
}
