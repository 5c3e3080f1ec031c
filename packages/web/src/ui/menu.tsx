/**
 * A menu: a button and a list that opens at it, in the browser's own top layer. Arrow keys walk it, Escape closes it.
 */
import { type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import { Icon, type IconName } from "./icons.tsx";

interface MenuProps {
  readonly label: string;
  readonly icon: IconName;
  readonly text?: string;
  readonly children: ReactNode;
}

export function Menu({ label, icon, text, children }: MenuProps): ReactNode {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const place = () => {
    const at = button.current?.getBoundingClientRect();
    const box = list.current;
    if (!at || !box) return;
    const { offsetWidth: width, offsetHeight: height } = box;
    const top = at.bottom + height + 8 > innerHeight ? Math.max(4, at.top - height - 4) : at.bottom + 4;
    box.style.top = `${top}px`;
    box.style.left = `${Math.max(4, Math.min(at.right - width, innerWidth - width - 4))}px`;
    items(box)[0]?.focus();
  };
  const walk = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 || !list.current) return;
    event.preventDefault();
    const all = items(list.current);
    const now = all.indexOf(document.activeElement as HTMLElement);
    all[(now + step + all.length) % all.length]?.focus();
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        className={text ? "quiet-button" : "icon-button"}
        title={label}
        aria-label={text ? undefined : label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        popoverTarget={id}
      >
        <Icon name={icon} />
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
        onKeyDown={walk}
        onToggle={(event) => {
          const isNow = (event.nativeEvent as ToggleEvent).newState === "open";
          setOpen(isNow);
          if (isNow) requestAnimationFrame(place);
        }}
      >
        {isOpen && children}
      </div>
    </>
  );
}

interface MenuItemProps {
  readonly icon: IconName;
  readonly onChoose: () => void;
  readonly children: ReactNode;
}

export function MenuItem({ icon, onChoose, children }: MenuItemProps): ReactNode {
  return (
    <button
      type="button"
      role="menuitem"
      className="menu-item"
      tabIndex={-1}
      onClick={(event) => {
        event.currentTarget.closest<HTMLElement>("[popover]")?.hidePopover();
        onChoose();
      }}
    >
      <Icon name={icon} />
      <span>{children}</span>
    </button>
  );
}

function items(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>("[role=menuitem]")];
}
