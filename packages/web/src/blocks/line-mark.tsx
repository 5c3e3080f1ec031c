/**
 * The icon at the beginning of a line that opens. Where one points at the line, works on it by keyboard or has opened it, a chevron
 * stands in the icon's place: the end of the line stays where durations and results end.
 */
import type { ReactNode } from "react";
import { Icon, type IconName } from "../ui/icons.tsx";

interface LineMarkProps {
  readonly icon: IconName;
  readonly isOpen: boolean;
  readonly isBreathing?: boolean;
}

export function LineMark({ icon, isOpen, isBreathing = false }: LineMarkProps): ReactNode {
  return (
    <span className={isOpen ? "line-mark open" : "line-mark"}>
      <Icon name={icon} className={isBreathing ? "breathing" : ""} />
      <Icon name="chevron" className={isOpen ? "turned" : ""} />
    </span>
  );
}
