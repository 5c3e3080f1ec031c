/**
 * A choice in the composer: a button that shows the current value, and a list that opens above it in the browser's own
 * top layer. Arrow keys move, letters jump, Escape closes it and returns the focus. After a choice the focus is in the
 * field.
 *
 * The list is drawn and has the focus before the click that opens it is over: no letter typed after it goes elsewhere.
 */
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { focusPrompt } from "../state/invitation.ts";
import { Icon, type IconName } from "../ui/icons.tsx";

interface PickerProps {
  /** What is chosen here: "Agent", "Model", "Mode". */
  readonly label: string;
  readonly icon: IconName;
  /** What is chosen now. */
  readonly text: string;
  readonly detail?: string | undefined;
  readonly tone?: "plain" | "warn" | undefined;
  /** Nothing was chosen: where there is little room its icon is enough. */
  readonly isUsual?: boolean;
  /** What is inside is a list of items, or something with fields of its own. */
  readonly role?: "menu" | "dialog";
  readonly onOpen?: () => void;
  readonly children: (close: () => void) => ReactNode;
}

export function Picker(props: PickerProps): ReactNode {
  const { label, icon, text, detail, tone = "plain", isUsual = false, role = "menu" } = props;
  const { onOpen, children } = props;
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  // It is placed when it has a size, and again when what is inside comes late or changes its height.
  useEffect(() => {
    if (!isOpen || !list.current) return;
    const box = list.current;
    const put = () => place(button.current, box);
    const resized = new ResizeObserver(put);
    resized.observe(box);
    addEventListener("resize", put);
    return () => {
      resized.disconnect();
      removeEventListener("resize", put);
    };
  }, [isOpen]);
  const close = () => {
    list.current?.hidePopover();
    focusPrompt();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={`picker ${tone}${isUsual ? " usual" : ""}`}
        title={`${label}: ${text}${detail === undefined ? "" : `, ${detail}`}`}
        aria-label={`${label}: ${text}${detail === undefined ? "" : `, ${detail}`}`}
        aria-haspopup={role}
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        <Icon name={icon} />
        <span className="picker-text">{text}</span>
        {detail !== undefined && <span className="picker-detail">{detail}</span>}
        <Icon name="chevron" className="picker-arrow" />
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: its role is given */}
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: its role is given */}
      <div
        ref={list}
        id={id}
        className="picker-list"
        role={role}
        aria-label={label}
        popover="auto"
        tabIndex={-1}
        onKeyDown={(event) => walk(event, list.current)}
        onBeforeToggle={(event) => {
          if ((event.nativeEvent as ToggleEvent).newState !== "open") return;
          flushSync(() => setOpen(true));
          askForFocus(event.currentTarget);
        }}
        onToggle={(event) => {
          const isNow = (event.nativeEvent as ToggleEvent).newState === "open";
          setOpen(isNow);
          if (isNow) onOpen?.();
        }}
      >
        {isOpen && children(close)}
      </div>
    </>
  );
}

interface PickerItemProps {
  readonly icon?: IconName;
  readonly name: string;
  readonly description?: ReactNode;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

export function PickerItem({ icon, name, description, isChosen, onChoose }: PickerItemProps): ReactNode {
  return (
    <button
      type="button"
      role="menuitemradio"
      aria-checked={isChosen}
      className="picker-item"
      tabIndex={-1}
      onClick={onChoose}
    >
      {icon && <Icon name={icon} />}
      <span className="picker-item-main">
        <span className="picker-item-name">{name}</span>
        {description && <span className="picker-item-more">{description}</span>}
      </span>
      <Icon name="check" className={isChosen ? "" : "unseen"} />
    </button>
  );
}

/** Above the button, or below it where there is more room. */
function place(button: HTMLElement | null, box: HTMLElement): void {
  if (!button) return;
  const at = button.getBoundingClientRect();
  const above = at.top - 8;
  const below = innerHeight - at.bottom - 8;
  const isAbove = above >= Math.min(box.scrollHeight, 360) || above >= below;
  box.style.maxHeight = `${Math.max(120, isAbove ? above : below)}px`;
  const height = box.offsetHeight;
  box.style.top = `${isAbove ? Math.max(4, at.top - height - 4) : at.bottom + 4}px`;
  box.style.left = `${Math.max(4, Math.min(at.left, innerWidth - box.offsetWidth - 4))}px`;
}

function items(box: HTMLElement): HTMLElement[] {
  return [...box.querySelectorAll<HTMLElement>("[role^=menuitem]:not([aria-disabled=true])")];
}

/** Where the keys begin: a field, else what is chosen, else the first. */
function first(box: HTMLElement): HTMLElement | undefined {
  const field = box.querySelector<HTMLElement>("input:not([type=radio])");
  const chosen = box.querySelector<HTMLElement>("[role^=menuitem][aria-checked=true]");
  return field ?? chosen ?? items(box)[0] ?? box;
}

/** The browser gives it the focus as soon as it can be seen. */
function askForFocus(box: HTMLElement): void {
  box.removeAttribute("autofocus");
  first(box)?.setAttribute("autofocus", "");
}

function walk(event: KeyboardEvent, box: HTMLElement | null): void {
  if (!box || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof HTMLInputElement) return;
  const all = items(box);
  const now = all.indexOf(document.activeElement as HTMLElement);
  const next = nextOf(event.key, all, now);
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function nextOf(key: string, all: readonly HTMLElement[], now: number): HTMLElement | undefined {
  if (key === "ArrowDown") return all[(now + 1) % all.length];
  if (key === "ArrowUp") return all[(now - 1 + all.length) % all.length];
  if (key === "Home") return all[0];
  if (key === "End") return all.at(-1);
  if (key.length !== 1 || key === " ") return undefined;
  const after = [...all.slice(now + 1), ...all.slice(0, now + 1)];
  return after.find((item) => item.textContent?.trim().toLowerCase().startsWith(key.toLowerCase()));
}
