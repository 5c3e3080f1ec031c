/** Tabs: one list of names, one panel. Arrow keys, Home and End go from tab to tab; Tab goes on into the panel. */
import { type KeyboardEvent, type ReactNode, useId } from "react";

interface TabsProps<T extends string> {
  readonly label: string;
  readonly tabs: readonly { readonly tab: T; readonly label: string; readonly count?: number | undefined }[];
  readonly shown: T;
  readonly onChoose: (tab: T) => void;
  /** The end of the row. */
  readonly end?: ReactNode;
  readonly children: ReactNode;
}

export function Tabs<T extends string>({
  label,
  tabs,
  shown,
  onChoose,
  end,
  children,
}: TabsProps<T>): ReactNode {
  const id = useId();
  const onKey = (event: KeyboardEvent<HTMLElement>) => {
    const now = tabs.findIndex(({ tab }) => tab === shown);
    const to = { ArrowRight: now + 1, ArrowLeft: now - 1, Home: 0, End: tabs.length - 1 }[event.key];
    const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    onChoose(next.tab);
    event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next.tab}"]`)?.focus();
  };
  return (
    <>
      <div className="tabs-row">
        <div className="tabs" role="tablist" aria-label={label} onKeyDown={onKey}>
          {tabs.map(({ tab, label: name, count }) => (
            <button
              key={tab}
              type="button"
              role="tab"
              id={`${id}-${tab}`}
              data-tab={tab}
              aria-selected={tab === shown}
              aria-controls={`${id}-panel`}
              tabIndex={tab === shown ? 0 : -1}
              onClick={() => onChoose(tab)}
            >
              {name}
              {count !== undefined && count > 0 && <span className="tab-count">{count}</span>}
            </button>
          ))}
        </div>
        {end}
      </div>
      <div
        className="tab-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${shown}`}
        tabIndex={-1}
      >
        {children}
      </div>
    </>
  );
}
