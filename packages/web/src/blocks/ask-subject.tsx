/**
 * The exact subject of a permission: the change as a diff, the command with its folder, the address, or the input of
 * the tool, each value by its name. Invisible characters are made visible.
 */

import { ASK_BOUNDS, type Ask, type Block, exactText, inFolder, type Json } from "@blockyard/kernel";
import { type ReactNode, useMemo } from "react";
import { diffRows } from "../diff/diff-rows.ts";
import { DiffView } from "../diff/diff-view.tsx";
import { type FileDiff, fileDiffs } from "../diff/file-diffs.ts";
import { grammarOf } from "../highlight/language.ts";
import { Icon } from "../ui/icons.tsx";
import { CHANGE_WORDS } from "./change-words.ts";
import { Exact, ExactWords } from "./exact-words.tsx";
import { useFolder } from "./folder.ts";
import { SUBJECT_LINE_CHARS } from "./limits.ts";

export function AskedSubject({ ask, block }: { ask: Ask; block: Block }): ReactNode {
  const { subject, title } = ask;
  const input = ask.input ?? block.metadata.input;
  if (subject?.type === "diff")
    return (
      <>
        {title !== undefined && (
          <p className="dim">
            <ExactWords text={title} />
          </p>
        )}
        <AskedDiffs diff={subject.diff} paths={subject.paths} name={`${block.id}:asked`} />
        {input !== undefined && (
          <details>
            <summary className="dim">
              <Icon name="chevron" /> Exact input
            </summary>
            <Exact text={JSON.stringify(input, null, 2)} />
          </details>
        )}
      </>
    );
  if (subject?.type === "command")
    return (
      <>
        <Exact text={subject.command} />
        {subject.cwd !== undefined && <Folder path={subject.cwd} />}
        <TypedInput input={besideCommand(input, title)} />
      </>
    );
  if (subject?.type === "url")
    return (
      <>
        <Exact text={subject.url} />
        <TypedInput input={without(input, "url")} />
      </>
    );
  if (input === undefined) return null;
  const command = (input as { readonly command?: unknown } | null)?.command;
  if (typeof command !== "string") return <TypedInput input={input} />;
  return (
    <>
      <Exact text={command} />
      <TypedInput input={besideCommand(input, title)} />
    </>
  );
}

function Folder({ path }: { path: string }): ReactNode {
  return (
    <p className="asked-folder dim">
      <Icon name="folder" /> in
      <code>
        <ExactWords text={path} />
      </code>
    </p>
  );
}

/**
 * The change that a call asks for. The heading names a file that is changed alone; with several, and for a move, each
 * is above its part.
 */
function AskedDiffs({ diff, paths = [], name }: AskedDiffsProps): ReactNode {
  const files = useMemo(() => fileDiffs(diff), [diff]);
  const isKnown = files.every(
    ({ path = "", movedTo = path }) => paths.includes(path) && paths.includes(movedTo),
  );
  const isPlain = paths.length < 2 && files[0]?.diff !== "";
  if (isPlain || !isKnown) return <AskedDiff diff={diff} path={paths[0]} name={name} />;
  return files.map((file, i) => (
    <div key={i} className={`change change-${file.kind}`}>
      <AskedFile file={file} />
      {file.diff !== "" && <AskedDiff diff={file.diff} path={file.path} name={`${name}:${i}`} />}
    </div>
  ));
}

interface AskedDiffsProps {
  readonly diff: string;
  readonly paths: readonly string[] | undefined;
  readonly name: string;
}

function AskedFile({ file: { path = "", kind, movedTo } }: { file: FileDiff }): ReactNode {
  const folder = useFolder();
  const place = (whole: string) => (
    <code title={whole.slice(0, ASK_BOUNDS.wordsChars)}>
      <ExactWords text={inFolder(whole, folder)} />
    </code>
  );
  return (
    <p className="asked-file">
      {kind !== "modify" && <span className="change-kind">{CHANGE_WORDS[kind]}</span>}
      {place(path)}
      {movedTo !== undefined && (
        <>
          <span className="dim">moved to</span> {place(movedTo)}
        </>
      )}
    </p>
  );
}

function AskedDiff({
  diff,
  path,
  name,
}: {
  diff: string;
  path: string | undefined;
  name: string;
}): ReactNode {
  const rows = useMemo(() => diffRows(exactText(diff)), [diff]);
  return (
    <div className="asked-diff">
      <DiffView rows={rows} label="proposed change" name={name} grammar={grammarOf(undefined, path)} />
    </div>
  );
}

/** Each value by its name: text as it is, anything else as JSON. */
function TypedInput({ input }: { input: Json | undefined }): ReactNode {
  if (input === undefined || (isObject(input) && Object.keys(input).length === 0)) return null;
  // Too many to show each by its name.
  if (!isObject(input) || Object.keys(input).length > ASK_BOUNDS.inputValues)
    return <Exact text={JSON.stringify(input, null, 2)} />;
  return (
    <dl className="asked-input">
      {Object.entries(input).map(([name, value]) => (
        <div key={name}>
          <dt>
            <ExactWords text={name} />
          </dt>
          <dd>
            <Exact text={typeof value === "string" ? value : jsonText(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** In one line where that is short. */
function jsonText(value: Json): string {
  const line = JSON.stringify(value);
  return line.length <= SUBJECT_LINE_CHARS ? line : JSON.stringify(value, null, 2);
}

/** A call's other input, unless the title has it: separate, since nothing of it is run. */
function besideCommand(input: Json | undefined, title: string | undefined): Json | undefined {
  if (!isObject(input)) return undefined;
  const { command: given, description, ...rest } = input;
  const isTold = description === undefined || description === title;
  // A text is the command, or the command after its shell; a list of words is shown unchanged.
  const isShown = given === undefined || typeof given === "string";
  return { ...(isShown ? {} : { command: given }), ...(isTold ? {} : { description }), ...rest };
}

function without(input: Json | undefined, name: string): Json | undefined {
  if (!isObject(input)) return input;
  const { [name]: _left, ...rest } = input;
  return rest;
}

function isObject(value: Json | undefined): value is { readonly [key: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
