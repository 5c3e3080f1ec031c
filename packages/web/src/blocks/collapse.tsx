/**
 * What can be collapsed: a line that says what there is, and the thing itself when it is open. Closed, only those of its lines
 * are in the document that the rules show at first.
 */
import { amountOf, type Block, type Extent, isCutLine, isLong, tailLines } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useOpen } from "../state/disclosure.ts";
import { Icon } from "../ui/icons.tsx";
import { Excerpt, useEndLines } from "./excerpt.tsx";
import { useForm } from "./form.ts";

interface CollapseProps extends Extent {
  readonly block: Block;
  /** If a block has several collapsible parts. */
  readonly name?: string;
  /** Its lines as the reader counts them, where other rows are among them. */
  readonly counted?: number;
  readonly label?: ReactNode;
  /** What the closed part shows, if that is not its text: see Excerpt. */
  readonly source?: readonly string[];
  readonly after?: string | undefined;
  readonly plain?: (line: string) => string;
  /** The lines of a tail, where they are more than plain text. */
  readonly drawTail?: (lines: readonly string[]) => ReactNode;
  /** The beginning of a part that shows its beginning. */
  readonly beginning?: () => ReactNode;
  readonly children: () => ReactNode;
}

/** Short content is simply shown; long content has a line to open and close it. */
export function Collapse(props: CollapseProps): ReactNode {
  const {
    block,
    name = block.id,
    counted,
    label,
    source,
    after,
    plain,
    drawTail,
    beginning,
    children,
    ...extent
  } = props;
  const { lines, chars } = extent;
  const form = useForm(block, extent);
  const [isOpen, toggle] = useOpen(name, form === "whole");
  const most = form === "tail" ? tailLines(block, lines) : undefined;
  const hasLongLine = useHasLongLine(block, most !== undefined && lines <= most, source, after);
  const isCut = form === "ends" || form === "start" || (most !== undefined && lines > most) || hasLongLine;
  // Requested content is open and can be closed anyway.
  const isClosable = isCut || (form === "whole" && block.kind !== "file_change" && isLong(lines, chars));
  if (!isClosable) return isOpen || form === "whole" ? children() : closed();
  if (beginning && form === "start")
    return (
      <div className="collapse" data-hold>
        {isOpen ? children() : beginning()}
        <button
          key={String(isOpen)}
          type="button"
          className="collapse-line collapse-foot"
          aria-expanded={isOpen}
          onClick={toggle}
        >
          <Icon name="chevron" className={isOpen ? "up" : "turned"} />
          {isOpen ? "Show less" : `Show all ${amountOf(counted ?? lines, chars)}`}
        </button>
      </div>
    );
  return (
    <div className="collapse">
      <div className="collapse-head">
        <button type="button" className="collapse-line" aria-expanded={isOpen} onClick={toggle}>
          <Icon name="chevron" className={isOpen ? "turned" : ""} />
          {isOpen ? "Hide" : "Show"} {amountOf(lines, chars)}
        </button>
        {label}
      </div>
      {isOpen ? children() : closed()}
    </div>
  );

  function closed(): ReactNode {
    return (
      <Excerpt
        block={block}
        lines={lines}
        source={source}
        after={after}
        plain={plain}
        tailOnly={most}
        drawTail={drawTail}
      />
    );
  }
}

/** A tail of few lines is not all there is where one of them is cut. */
function useHasLongLine(
  block: Block,
  isWanted: boolean,
  source: readonly string[] | undefined,
  after: string | undefined,
): boolean {
  const own = useEndLines(block, isWanted && source === undefined && block.chars > 0);
  if (!isWanted) return false;
  const lines = source ?? own?.slice(0, own.length) ?? [];
  return [...lines, ...(after ?? "").split("\n")].some(isCutLine);
}

interface DetailsProps {
  readonly name: string;
  readonly summary: ReactNode;
  readonly byDefault?: boolean;
  /** It repeats what is beside it, so opening everything leaves it closed. */
  readonly isAside?: boolean;
  readonly className?: string;
  readonly children: () => ReactNode;
}

/** Anything with a one-line summary. */
export function Details(props: DetailsProps): ReactNode {
  const { name, summary, byDefault = false, isAside = false, className, children } = props;
  const [isOpen, toggle] = useOpen(name, byDefault, isAside);
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
