/**
 * Code: what was read of a file, with the file's own line numbers, coloured by its name.
 */
import { metadataOf, plural } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { CodeLines } from "../highlight/code-lines.tsx";
import { grammarOf } from "../highlight/language.ts";
import { useSession, useText, useView } from "../state/session.tsx";
import { CopyButton } from "../ui/copy.tsx";
import { Collapse } from "./collapse.tsx";
import { FilePath } from "./file-path.tsx";
import { Pictures } from "./image.tsx";
import { type RendererProps, useLineCount } from "./renderer.ts";
import { Waiting } from "./text.tsx";

export function CodeBlock({ block }: RendererProps): ReactNode {
  const { filename, startLine, totalLines, truncatedChars, images } = metadataOf(block, "code");
  const lines = useLineCount(block);
  const first = startLine ?? 1;
  return (
    <div className="result code-result">
      <div className="result-head">
        {filename && <FilePath path={filename} line={first} />}
        <span className="dim">
          {first > 1 || (totalLines !== undefined && totalLines > lines + 1)
            ? `lines ${first}–${first + lines - 1}${totalLines === undefined ? "" : ` of ${totalLines}`}`
            : ""}
        </span>
        <CopyText block={block} />
      </div>
      <Collapse block={block} lines={lines} chars={block.chars}>
        {() => <CodeBody block={block} />}
      </Collapse>
      {truncatedChars !== undefined && <p className="dim">{plural(truncatedChars, "character")} omitted.</p>}
      {images && images.length > 0 && <Pictures images={images} />}
    </div>
  );
}

function CodeBody({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  const { filename, language, startLine } = metadataOf(block, "code");
  if (!text) return <Waiting chars={block.chars} />;
  return (
    <CodeLines
      name={block.id}
      text={text.toString()}
      grammar={grammarOf(language, filename)}
      startLine={startLine ?? 1}
    />
  );
}

export function CopyText({ block }: RendererProps): ReactNode {
  const session = useSession();
  const view = useView();
  return <CopyButton text={() => session.text(view, block.id)} />;
}
