/**
 * The list of what can be completed, above the field, which keeps the focus and has the keys.
 */
import { type ReactNode, useEffect, useRef } from "react";
import { Icon } from "../ui/icons.tsx";
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
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: "nearest" });
  }, [at]);
  return (
    <div className="completion">
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
          <kbd>⏎</kbd> mention <kbd>⇧⏎</kbd> add to context
        </div>
      )}
    </div>
  );
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
