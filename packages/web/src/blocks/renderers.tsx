/** One renderer per kind. The compiler names the kind that has none. */
import { type Block, type BlockId, isAtWork, type Kind, repeatsDenial } from "@blockyard/kernel";
import { memo, type ReactNode } from "react";
import { useBlock } from "../state/session.tsx";
import { Boundary } from "./boundary.tsx";
import { CodeBlock } from "./code.tsx";
import { CommandBlock } from "./command.tsx";
import { ErrorBlock } from "./error.tsx";
import { FileBlock } from "./file.tsx";
import { FileChangeBlock } from "./file-change.tsx";
import { ImageBlock } from "./image.tsx";
import type { Renderer } from "./renderer.ts";
import { TextBlock } from "./text.tsx";
import { ThinkingBlock } from "./thinking.tsx";
import { TodoBlock } from "./todo.tsx";
import { CallResults, toolCallWith } from "./tool-call.tsx";
import { ToolResultBlock } from "./tool-result.tsx";
import { UnknownBlock } from "./unknown.tsx";

const RENDERERS: Readonly<Record<Kind, Renderer>> = {
  text: TextBlock,
  thinking: ThinkingBlock,
  tool_call: toolCallWith(ResultById),
  tool_result: ToolResultBlock,
  code: CodeBlock,
  command: CommandBlock,
  file_change: FileChangeBlock,
  todo: TodoBlock,
  image: ImageBlock,
  file: FileBlock,
  error: ErrorBlock,
  unknown: UnknownBlock,
};

/** A block of any kind; one that this page does not know is shown as unknown. */
export const RenderedBlock = memo(function RenderedBlock({ block }: { block: Block }): ReactNode {
  const Kind = RENDERERS[block.kind] ?? UnknownBlock;
  return (
    <Boundary version={block.version} what={block.kind.replace("_", " ")}>
      <Kind block={block} />
    </Boundary>
  );
});

function ResultById({ id, call }: { id: BlockId; call: Block }): ReactNode {
  const block = useBlock(id);
  if (!block) return null;
  return (
    <div
      data-block={id}
      data-call={call.id}
      data-kind={block.kind}
      data-status={block.status}
      aria-busy={isAtWork(block)}
    >
      {!repeatsDenial(call.metadata, block) && <RenderedBlock block={block} />}
    </div>
  );
}

/** The result of a call whose sub-agent's work is between the two. */
export function RenderedResults({ id }: { id: BlockId }): ReactNode {
  return <CallResults id={id} Result={ResultById} />;
}
