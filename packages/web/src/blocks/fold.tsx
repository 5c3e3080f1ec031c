/**
 * What can be folded: a line that says what there is, and the thing itself when it is open. Closed, the thing is not in
 * the document at all.
 */
import { amountOf, type Extent, isClosedFirst, isLong } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useOpen } from "../disclosure.ts";
import { Icon } from "../icons.tsx";

interface FoldProps extends Extent {
  readonly name: string;
  readonly label?: ReactNode;
  readonly children: () => ReactNode;
}

/** Short things are simply there; long ones have a line to open and close them by. */
export function Fold({ name, label, children, ...extent }: FoldProps): ReactNode {
  const { lines, chars } = extent;
  const isClosed = isClosedFirst(extent);
  const [isOpen, toggle] = useOpen(name, !isClosed);
  // What was asked for is open and can be closed all the same.
  if (isOpen && !isClosed && !(extent.isAskedFor && isLong(lines, chars))) return children();
  return (
    <div className="fold">
      <div className="fold-head">
        <button type="button" className="fold-line" aria-expanded={isOpen} onClick={toggle}>
          <Icon name="chevron" className={isOpen ? "turned" : ""} />
          {isOpen ? "Hide" : "Show"} {amountOf(lines, chars)}
        </button>
        {label}
      </div>
      {isOpen && children()}
    </div>
  );
}

interface DetailsProps {
  readonly name: string;
  readonly summary: ReactNode;
  readonly byDefault?: boolean;
  readonly className?: string;
  readonly children: () => ReactNode;
}

/** Anything with a one-line summary. */
export function Details({ name, summary, byDefault = false, className, children }: DetailsProps): ReactNode {
  const [isOpen, toggle] = useOpen(name, byDefault);
  return (
    <div className={className}>
      <button type="button" className="details-line" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="chevron" className={isOpen ? "turned" : ""} />
        {summary}
      </button>
      {isOpen && <div className="details-body">{children()}</div>}
    </div>
  );
}
