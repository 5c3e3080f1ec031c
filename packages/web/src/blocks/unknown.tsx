/**
 * Something that the provider said and no adapter knows yet: kept, shown, collapsed.
 */
import { metadataOf } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { CodeLines } from "../highlight/code-lines.tsx";
import { useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { Details } from "./collapse.tsx";
import type { RendererProps } from "./renderer.ts";
import { Waiting } from "./text.tsx";

export function UnknownBlock({ block }: RendererProps): ReactNode {
  const { type, provider } = metadataOf(block, "unknown");
  const summary = (
    <>
      <Icon name="question" />
      <span>Unrecognized event{type ? ": " : ""}</span>
      {type && <code>{breakable(type)}</code>}
      {provider && <span className="dim">from {provider}</span>}
    </>
  );
  return (
    <Details name={block.id} summary={summary} className="unknown">
      {() => <Raw block={block} />}
    </Details>
  );
}

function Raw({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  return text ? (
    <CodeLines name={block.id} text={text.toString()} grammar="json" />
  ) : (
    <Waiting chars={block.chars} />
  );
}
