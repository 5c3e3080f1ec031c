/** A tool's result that has no more exact kind: text as it came, a report as Markdown, pictures, sources. */

import { isEnded, isMarkdownResult, type Json, type Metadata, metadataOf } from "@blockyard/kernel";
import { type ReactNode, useMemo } from "react";
import { CodeLines } from "../highlight/code-lines.tsx";
import { Markdown } from "../markdown/markdown.tsx";
import { useText } from "../state/session.tsx";
import { Citations } from "./citations.tsx";
import { CopyText } from "./code.tsx";
import { Collapse, Details } from "./collapse.tsx";
import { Pictures } from "./image.tsx";
import { JsonView } from "./json-view.tsx";
import { JSON_CHARS } from "./limits.ts";
import { type RendererProps, useLineCount } from "./renderer.ts";
import { Waiting } from "./text.tsx";

export function ToolResultBlock({ block }: RendererProps): ReactNode {
  const { isError, images, citations, result } = metadataOf(block, "tool_result");
  const lines = useLineCount(block);
  return (
    <div className={isError ? "result plain-result failed" : "result plain-result"}>
      {lines > 0 && (
        <Collapse block={block} lines={lines} chars={block.chars} label={<CopyText block={block} />}>
          {() => <ResultText block={block} />}
        </Collapse>
      )}
      {images && images.length > 0 && <Pictures images={images} />}
      {citations && citations.length > 0 && <OtherSources block={block} citations={citations} />}
      {lines === 0 && result !== undefined && result !== null && (
        <Details name={`${block.id}:payload`} summary={<span>Result</span>}>
          {() => <JsonView value={result} name={`${block.id}:payload`} />}
        </Details>
      )}
    </div>
  );
}

/** Links that the text has are not shown again below it. */
function OtherSources({
  block,
  citations,
}: RendererProps & { citations: NonNullable<Metadata<"tool_result">["citations"]> }): ReactNode {
  const text = useText(block.id, block.chars > 0);
  if (block.chars > 0 && !text) return null;
  const said = text?.toString() ?? "";
  const others = citations.filter(({ url }) => !said.includes(url));
  return others.length === 0 ? null : <Citations citations={others} />;
}

function ResultText({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  if (!text) return <Waiting chars={block.chars} />;
  if (isMarkdownResult(metadataOf(block, "tool_result")))
    return (
      <div className="report">
        <Markdown text={text} isGrowing={!isEnded(block.status)} isAppendOnly={!block.promoted} />
      </div>
    );
  return <PlainResult text={text.toString()} name={block.id} />;
}

/** A tool's output; JSON is indented, also if it came on one line. */
function PlainResult({ text, name }: { text: string; name: string }): ReactNode {
  const json = useMemo(() => jsonIn(text), [text]);
  if (json !== undefined) return <JsonView value={json} name={name} />;
  return <CodeLines name={name} text={text} grammar={undefined} />;
}

function jsonIn(text: string): Json | undefined {
  if (text.length > JSON_CHARS || !/^\s*[[{]/.test(text) || !/[\]}]\s*$/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
