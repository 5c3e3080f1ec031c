/**
 * A workspace file as a block: its path, whether it is saved, its content.
 */
import { metadataOf } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { CodeLines } from "../highlight/code-lines.tsx";
import { grammarOf } from "../highlight/language.ts";
import { useText } from "../state/session.tsx";
import { CopyText } from "./code.tsx";
import { Collapse } from "./collapse.tsx";
import { FilePath } from "./file-path.tsx";
import { type RendererProps, useLineCount } from "./renderer.ts";
import { Waiting } from "./text.tsx";

export function FileBlock({ block }: RendererProps): ReactNode {
  const { path, persistedVersion, conflict } = metadataOf(block, "file");
  const isDirty = persistedVersion !== undefined && block.version > persistedVersion;
  const lines = useLineCount(block);
  return (
    <div className="result file-result">
      <div className="result-head">
        <FilePath path={path} />
        {isDirty && <span className="warn">not saved yet</span>}
        {conflict !== undefined && <span className="bad">also changed on disk: not overwritten</span>}
        <CopyText block={block} />
      </div>
      <Collapse block={block} lines={lines} chars={block.chars}>
        {() => <FileBody block={block} />}
      </Collapse>
    </div>
  );
}

function FileBody({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  const { path, language } = metadataOf(block, "file");
  if (!text) return <Waiting chars={block.chars} />;
  return (
    <CodeLines name={block.id} text={text.toString()} grammar={grammarOf(language, path)} startLine={1} />
  );
}
