/** A field with a list below it: type to narrow, arrows to walk, Enter to take. For commands and for search. */
import { Fragment, type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { isComposing } from "./composing.ts";

interface ChooserProps<T> {
  readonly label: string;
  readonly placeholder: string;
  readonly query: string;
  readonly onQuery: (query: string) => void;
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly render: (item: T) => ReactNode;
  readonly onChoose: (item: T) => void;
  /** The group of items, which are listed together. */
  readonly groupOf?: ((item: T) => string) | undefined;
  readonly empty: ReactNode;
}

export function Chooser<T>(props: ChooserProps<T>): ReactNode {
  const { label, placeholder, query, onQuery, items, keyOf, render, onChoose, groupOf, empty } = props;
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [at, setAt] = useState(0);
  const chosen = Math.min(at, items.length - 1);
  useEffect(() => {
    if (chosen === 0) list.current?.scrollTo({ top: 0 });
    else list.current?.querySelectorAll("[role=option]")[chosen]?.scrollIntoView({ block: "nearest" });
  }, [chosen]);
  const onKey = (event: KeyboardEvent) => {
    if (isComposing(event.nativeEvent)) return;
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0) setAt(Math.max(0, Math.min(items.length - 1, chosen + step)));
    const item = items[chosen];
    if (event.key === "Enter" && item !== undefined) onChoose(item);
    if (step !== 0 || event.key === "Enter") event.preventDefault();
  };
  return (
    <div className="chooser">
      <input
        // biome-ignore lint/a11y/noAutofocus: the dialog was opened to type into it
        autoFocus
        role="combobox"
        aria-label={label}
        aria-expanded
        aria-controls={id}
        aria-activedescendant={items.length > 0 ? `${id}-${chosen}` : undefined}
        placeholder={placeholder}
        value={query}
        onChange={(event) => {
          onQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={onKey}
      />
      <div className="chooser-list" id={id} role="listbox" aria-label={label} ref={list}>
        {items.map((item, i) => {
          const group = groupOf?.(item);
          const before = items[i - 1];
          const isFirst = group !== undefined && (before === undefined || groupOf?.(before) !== group);
          return (
            <Fragment key={keyOf(item)}>
              {isFirst && (
                <div className="chooser-group" role="presentation">
                  {group}
                </div>
              )}
              {/* biome-ignore lint/a11y/useFocusableInteractive: the field above keeps the focus */}
              {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field above has the keys */}
              <div
                id={`${id}-${i}`}
                role="option"
                aria-selected={i === chosen}
                className="chooser-item"
                onClick={() => onChoose(item)}
              >
                {render(item)}
              </div>
            </Fragment>
          );
        })}
      </div>
      {items.length === 0 && <div className="chooser-empty">{empty}</div>}
      <ChooserKeys />
    </div>
  );
}

/** The keys of the list, for who sees it. */
function ChooserKeys(): ReactNode {
  return (
    <div className="chooser-foot" aria-hidden="true">
      <span>
        <kbd>↑</kbd> <kbd>↓</kbd> move
      </span>
      <span>
        <kbd>⏎</kbd> choose
      </span>
      <span>
        <kbd>Esc</kbd> close
      </span>
    </div>
  );
}
