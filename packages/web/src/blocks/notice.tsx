/**
 * What the system notes in passing, a warning among it: one quiet line. A click shows all of it, with the provider's details.
 */

import { isNoticeOpen, type Json, noticeName, noticePieces, timesText } from "@blockyard/kernel";
import { Fragment, type ReactNode } from "react";
import { useOpen } from "../state/disclosure.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { JsonView } from "./json-view.tsx";
import { SHORT_NOTICE_CHARS } from "./limits.ts";
import { LineMark } from "./line-mark.tsx";
import type { RendererProps } from "./renderer.ts";

interface NoticeProps extends RendererProps {
  readonly icon: IconName;
  readonly text: string;
  readonly details?: Json | undefined;
}

export function Notice({ block, icon, text, details }: NoticeProps): ReactNode {
  const { notice } = block.metadata;
  const [isOpen, toggle] = useOpen(block.id, isNoticeOpen(notice, text));
  const name = noticeName(notice, text);
  const isClosable = details !== undefined || text.length > SHORT_NOTICE_CHARS || text.includes("\n");
  const line = (
    <>
      {isClosable ? <LineMark icon={icon} isOpen={isOpen} /> : <Icon name={icon} />}
      {name && <span className="notice-name">{name}</span>}
      <span className="notice-text">
        {noticePieces(notice, text).map((piece, i) =>
          piece.isCode ? (
            <code key={i}>{breakable(piece.text)}</code>
          ) : (
            <Fragment key={i}>{breakable(piece.text)}</Fragment>
          ),
        )}
      </span>
      <span className="times">{timesText(block.metadata)}</span>
    </>
  );
  if (!isClosable) return <div className="notice">{line}</div>;
  return (
    <>
      <button type="button" className="notice notice-line" aria-expanded={isOpen} onClick={toggle}>
        {line}
      </button>
      {isOpen && details !== undefined && <JsonView value={details} name={`${block.id}:details`} />}
    </>
  );
}
