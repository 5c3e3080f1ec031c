/**
 * A tool call's input, in the shape that its result will have, from its first characters on: a file being written, a
 * command, a to-do list; anything else as JSON.
 */
import {
  type Block,
  exactText,
  type Json,
  type LiveInput,
  liveInput,
  metadataOf,
  PartialJson,
  type Text,
} from "@blockyard/kernel";
import { type ReactNode, useEffect, useMemo, useRef } from "react";
import { diffRows, editRows } from "../diff/diff-rows.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { CodeLines } from "../highlight/code-lines.tsx";
import { grammarOf } from "../highlight/language.ts";
import { useText } from "../state/session.tsx";
import { breakable } from "../ui/long-words.tsx";
import { FilePath } from "./file-path.tsx";
import { JsonView } from "./json-view.tsx";
import type { RendererProps } from "./renderer.ts";
import { TodoList } from "./todo.tsx";

/** While it streams: a window on the end of it, whose height does not grow with it. */
export function GrowingInput({ block }: RendererProps): ReactNode {
  const text = useText(block.id);
  const read = useGrowingJson(block, text);
  const box = useRef<HTMLDivElement>(null);
  const { toolName } = metadataOf(block, "tool_call");
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the text grows, its end is shown
  useEffect(() => {
    if (box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [text]);
  if (!text || text.length === 0) return null;
  const live = liveInput(toolName, read);
  return (
    <div className="growing-input" ref={box}>
      {live ? (
        <LiveInputView input={live} name={block.id} isGrowing />
      ) : (
        <pre className="code">{breakable(text.toString())}</pre>
      )}
    </div>
  );
}

interface WholeInputProps extends RendererProps {
  /** Its command is shown with its result. */
  readonly hasCommand: boolean;
}

/** The whole input of a call that runs or has ended; unchanged if the result shows its effect. */
export function WholeInput({ block, hasCommand }: WholeInputProps): ReactNode {
  const { toolName, input } = metadataOf(block, "tool_call");
  const text = useText(block.id, input === undefined);
  const live = useMemo(() => shapeOf(toolName, input, text), [toolName, input, text]);
  if (live && !(hasCommand && input !== undefined))
    return <LiveInputView input={live} name={`${block.id}:input`} isGrowing={false} />;
  if (input !== undefined) return <JsonView value={input} name={`${block.id}:input`} />;
  return text ? <pre className="code">{breakable(text.toString())}</pre> : null;
}

function shapeOf(toolName: string, input: Json | undefined, text: Text | undefined): LiveInput | undefined {
  if (typeof input === "string") return liveInput(toolName, input);
  if (input === undefined && text === undefined) return undefined;
  const reader = new PartialJson();
  reader.push(input === undefined ? (text as Text).toString() : JSON.stringify(input));
  return liveInput(toolName, reader);
}

/** Reads what is new since the last time; from the beginning if the text is another one. */
function useGrowingJson(block: Block, text: Text | undefined): PartialJson {
  const state = useRef<{ reader: PartialJson; chars: number; promoted: boolean } | undefined>(undefined);
  const known = state.current;
  const isContinued =
    known !== undefined && !block.promoted && !known.promoted && (text?.length ?? 0) >= known.chars;
  const now = isContinued ? known : { reader: new PartialJson(), chars: 0, promoted: block.promoted };
  if (text && text.length > now.chars) {
    now.reader.push(text.slice(now.chars));
    now.chars = text.length;
  }
  state.current = now;
  return now.reader;
}

interface LiveInputProps {
  readonly input: LiveInput;
  readonly name: string;
  readonly isGrowing: boolean;
}

function LiveInputView({ input, name, isGrowing }: LiveInputProps): ReactNode {
  if (input.kind === "todo") return <TodoList items={input.items} />;
  if (input.kind === "command")
    return (
      <div className="command-line">
        <span className="prompt" aria-hidden="true">
          $
        </span>
        <code>{breakable(exactText(input.command))}</code>
      </div>
    );
  const { path, content, oldText, newText, edits, patch } = input;
  return (
    <div className="live-file">
      {path !== undefined && <FilePath path={path} />}
      {content !== undefined && (
        <CodeLines
          name={name}
          text={content}
          grammar={grammarOf(undefined, path)}
          startLine={1}
          isGrowing={isGrowing}
        />
      )}
      {patch !== undefined && <DiffView rows={diffRows(patch)} label="patch" />}
      {(oldText !== undefined || newText !== undefined) && (
        <DiffView rows={editRows(oldText ?? "", newText ?? "")} label="edit" />
      )}
      {edits?.map((edit, i) => (
        <DiffView key={i} rows={editRows(edit.oldText, edit.newText)} label={`edit ${i + 1}`} />
      ))}
    </div>
  );
}
