/**
 * What can be folded: a line that says what there is, and the thing itself when it is open. Closed, only its first and
 * last lines are in the document.
 */
import { amountOf, type Block, type Extent, isAskedFor, isClosedFirst, isLong } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useOpen } from "../state/disclosure.ts";
import { useView } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { Excerpt } from "./excerpt.tsx";

interface FoldProps extends Omit<Extent, "isAskedFor"> {
  readonly block: Block;
  /** Where a block has several things that are folded. */
  readonly name?: string;
  readonly label?: ReactNode;
  /** What the closed thing shows of itself, where that is not its text: see Excerpt. */
  readonly source?: readonly string[];
  readonly after?: string | undefined;
  readonly plain?: (line: string) => string;
  readonly children: () => ReactNode;
}

/** Short things are simply there; long ones have a line to open and close them by. */
export function Fold(props: FoldProps): ReactNode {
  const { block, name = block.id, label, source, after, plain, children, ...known } = props;
  const view = useView();
  const call = view.blocks.get(block.parent ?? "");
  const extent = { ...known, isAskedFor: isAskedFor(block.metadata, call?.metadata) };
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
      {isOpen ? (
        children()
      ) : (
        <Excerpt block={block} lines={lines} source={source} after={after} plain={plain} />
      )}
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
