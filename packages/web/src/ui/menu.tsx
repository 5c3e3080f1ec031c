/**
 * A menu: a button and a list that opens at it, in the browser's own top layer. Arrow keys, Home and End walk it, a letter
 * goes to the next item that begins with it, Escape and Tab close it, and the focus goes back to the button. What can be on or off
 * is a checkbox of the menu, what is one of several a radio button; both stay open for the next.
 *
 * The list is drawn and has the focus before the press that opens it is over: no letter typed after it goes elsewhere.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Icon, type IconName } from "./icons.tsx";
import { Keys } from "./keys.tsx";

interface MenuProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly text?: ReactNode;
  readonly className?: string;
  /** The id of its description. */
  readonly describedBy?: string | undefined;
  readonly children: ReactNode;
}

const EDGE = 8;
const GAP = 4;

export function Menu({ label, icon, text, className, describedBy, children }: MenuProps): ReactNode {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  // It is placed when it has a size, before it is painted.
  useEffect(() => {
    const [at, box] = [button.current, list.current];
    if (!isOpen || !at || !box) return;
    const resized = new ResizeObserver(() => place(at, box));
    resized.observe(box);
    return () => resized.disconnect();
  }, [isOpen]);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className ?? (text ? "quiet-button" : "icon-button")}
        title={label}
        aria-label={text ? undefined : label}
        aria-describedby={describedBy}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        {icon && <Icon name={icon} />}
        {text}
      </button>
      <div
        ref={list}
        id={id}
        className="menu"
        role="menu"
        aria-label={label}
        popover="auto"
        tabIndex={-1}
        onKeyDown={(event) => walk(event, list.current)}
        onBeforeToggle={(event) => {
          if ((event.nativeEvent as ToggleEvent).newState !== "open") return;
          flushSync(() => setOpen(true));
          // The browser gives it the focus as soon as it can be seen.
          items(event.currentTarget)[0]?.setAttribute("autofocus", "");
        }}
        onToggle={(event) => setOpen((event.nativeEvent as ToggleEvent).newState === "open")}
      >
        {isOpen && children}
      </div>
    </>
  );
}

interface MenuItemProps {
  readonly icon?: IconName;
  /** The keys that do the same. */
  readonly hint?: string;
  readonly isDanger?: boolean;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}

export function MenuItem({ icon, hint, isDanger = false, onChoose, children }: MenuItemProps): ReactNode {
  return (
    <button
      type="button"
      role="menuitem"
      className={isDanger ? "menu-item danger" : "menu-item"}
      tabIndex={-1}
      onClick={(event) => {
        event.currentTarget.closest<HTMLElement>("[popover]")?.hidePopover();
        onChoose();
      }}
    >
      {icon && <Icon name={icon} />}
      <span className="menu-words">{children}</span>
      {hint && <Keys keys={hint} />}
    </button>
  );
}

interface MenuChoiceProps {
  readonly isOn: boolean;
  readonly onChange: (isOn: boolean) => void;
  readonly type?: "checkbox" | "radio";
  readonly detail?: ReactNode;
  readonly children: ReactNode;
}

/** On or off, or one of several. */
export function MenuChoice({
  isOn,
  onChange,
  type = "checkbox",
  detail,
  children,
}: MenuChoiceProps): ReactNode {
  return (
    // biome-ignore lint/a11y/useAriaPropsSupportedByRole: both roles have it
    <button
      type="button"
      role={type === "radio" ? "menuitemradio" : "menuitemcheckbox"}
      aria-checked={isOn}
      className="menu-item"
      tabIndex={-1}
      onClick={() => onChange(!isOn)}
    >
      <span className="menu-mark">{isOn && <Icon name="check" />}</span>
      <span className="menu-words">{children}</span>
      {detail !== undefined && <span className="menu-detail">{detail}</span>}
    </button>
  );
}

/** Items that belong together, below a line and a name. */
interface MenuGroupProps {
  /** Above the group. */
  readonly label?: string;
  /** Where its entries say it themselves. */
  readonly name?: string;
  readonly children: ReactNode;
}

export function MenuGroup({ label, name = label, children }: MenuGroupProps): ReactNode {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is no part of a menu
    <div className="menu-group" role="group" aria-label={name}>
      {label !== undefined && (
        <div className="menu-label" aria-hidden="true">
          {label}
        </div>
      )}
      {children}
    </div>
  );
}

/** Below the button and aligned with its end, or above it if there is no room; never over the window's edge. */
function place(button: HTMLElement, box: HTMLElement): void {
  const at = button.getBoundingClientRect();
  const { offsetWidth: width, offsetHeight: height } = box;
  const isBelow = at.bottom + height + EDGE <= innerHeight;
  box.style.top = `${isBelow ? at.bottom + GAP : Math.max(EDGE, at.top - height - GAP)}px`;
  const isLeft = at.left + width + EDGE <= innerWidth && at.left < innerWidth / 2;
  const left = isLeft ? at.left : at.right - width;
  box.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - width - EDGE))}px`;
}

function walk(event: KeyboardEvent, list: HTMLElement | null): void {
  if (!list) return;
  const all = items(list);
  const now = all.indexOf(document.activeElement as HTMLElement);
  const to = target(event, all, now);
  if (event.key === "Tab") list.hidePopover();
  if (to === undefined) return;
  event.preventDefault();
  all[(to + all.length) % all.length]?.focus();
}

function target(event: KeyboardEvent, all: readonly HTMLElement[], now: number): number | undefined {
  switch (event.key) {
    case "ArrowDown":
      return now + 1;
    case "ArrowUp":
      return now === -1 ? all.length - 1 : now - 1;
    case "Home":
      return 0;
    case "End":
      return all.length - 1;
  }
  const letter = event.key.toLowerCase();
  if (letter.length !== 1 || letter === " " || event.ctrlKey || event.metaKey || event.altKey)
    return undefined;
  const words = all.map((item) =>
    (item.querySelector(".menu-words")?.textContent ?? "").trim().toLowerCase(),
  );
  const order = all.map((_, i) => (now + 1 + i + all.length) % all.length);
  return order.find((i) => words[i]?.startsWith(letter));
}

function items(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>("[role^=menuitem]")];
}
