/**
 * The list of what can be completed, above the field, or below it where there is more room. The field keeps the focus and has the keys.
 */
import { type CSSProperties, type ReactNode, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Icon } from "../ui/icons.tsx";
import { COMPLETION_EDGE_PX, COMPLETION_PX } from "./limits.ts";
import { keyOf, type Suggestion } from "./suggestions.ts";

interface CompletionListProps {
  readonly id: string;
  readonly label: string;
  readonly items: readonly Suggestion[];
  readonly at: number;
  readonly onChoose: (item: Suggestion) => void;
}

export function CompletionList({ id, label, items, at, onChoose }: CompletionListProps): ReactNode {
  const list = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const { isBelow, px } = useRoom(box, items);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <div
      className={isBelow ? "completion below" : "completion"}
      ref={box}
      style={{ "--room": `${px}px` } as CSSProperties}
    >
      <div id={id} className="completion-list" role="listbox" aria-label={label} ref={list}>
        {items.map((item, i) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the field keeps the focus
          // biome-ignore lint/a11y/useKeyWithClickEvents: the field has the keys
          <div
            key={keyOf(item)}
            id={`${id}-${i}`}
            role="option"
            aria-selected={i === at}
            className="completion-item"
            // The field keeps the focus.
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => onChoose(item)}
          >
            <Item item={item} />
          </div>
        ))}
      </div>
      {items[at]?.type === "file" && (
        <div className="completion-foot">
          <span>
            <kbd>⏎</kbd> mention
          </span>
          <span>
            <kbd>⇧⏎</kbd> add to context
          </span>
        </div>
      )}
    </div>
  );
}

/** Where it has room on the screen, and how much. */
function useRoom(
  box: { readonly current: HTMLElement | null },
  items: readonly Suggestion[],
): { isBelow: boolean; px: number } {
  const [room, setRoom] = useState({ isBelow: false, px: COMPLETION_PX });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the field may have grown with what was typed
  useLayoutEffect(() => {
    const around = box.current?.offsetParent?.getBoundingClientRect();
    if (!around) return;
    const above = around.top - COMPLETION_EDGE_PX;
    const below = (visualViewport?.height ?? innerHeight) - around.bottom - COMPLETION_EDGE_PX;
    const isBelow = above < COMPLETION_PX && below > above;
    setRoom({ isBelow, px: Math.round(isBelow ? below : above) });
  }, [box, items]);
  return room;
}

function Item({ item }: { item: Suggestion }): ReactNode {
  if (item.type === "command")
    return (
      <>
        <span className="completion-name">
          /{item.command.name} <span className="dim">{item.command.hint}</span>
        </span>
        <span className="completion-more">{item.command.description}</span>
      </>
    );
  if (item.type === "answer")
    return (
      <>
        <Icon name="plus" />
        <span className="completion-name">{item.title}</span>
        <span className="completion-more">Add its last answer to the context</span>
      </>
    );
  const slash = item.path.lastIndexOf("/") + 1;
  return (
    <>
      <Icon name="file" />
      <span className="completion-name">{item.path.slice(slash)}</span>
      <span className="completion-more">{item.path.slice(0, slash)}</span>
    </>
  );
}
