/**
 * What the system notes in passing, a warning among it: one quiet line. A click shows all of it, with the provider's details.
 */

import { type Json, noticeName, timesText } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useOpen } from "../state/disclosure.ts";
import { Icon, type IconName } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { JsonView } from "./json-view.tsx";
import { SHORT_NOTICE_CHARS } from "./limits.ts";
import type { RendererProps } from "./renderer.ts";

interface NoticeProps extends RendererProps {
  readonly icon: IconName;
  readonly text: string;
  readonly details?: Json | undefined;
}

export function Notice({ block, icon, text, details }: NoticeProps): ReactNode {
  const [isOpen, toggle] = useOpen(block.id, false);
  const name = noticeName(block.metadata.notice, text);
  const line = (
    <>
      <Icon name={icon} />
      {name && <span className="notice-name">{name}</span>}
      <span className="notice-text">{breakable(text)}</span>
      <span className="times">{timesText(block.metadata)}</span>
    </>
  );
  if (details === undefined && text.length <= SHORT_NOTICE_CHARS && !text.includes("\n"))
    return <div className="notice">{line}</div>;
  return (
    <>
      <button type="button" className="notice notice-line" aria-expanded={isOpen} onClick={toggle}>
        {line}
        <Icon name="chevron" className={isOpen ? "line-chevron turned" : "line-chevron"} />
      </button>
      {isOpen && details !== undefined && <JsonView value={details} name={`${block.id}:details`} />}
    </>
  );
}
