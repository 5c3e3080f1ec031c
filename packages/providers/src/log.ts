/**
 * Session logs that the CLIs keep on disk: what an importer is given, what it gives back, how logs are found.
 *
 * Nothing here touches a disk: files come through these interfaces from whoever owns one. An importer gives the same
 * block events that the live adapter of its provider gives, as far as the log carries them, with keys that depend on
 * the log's own ids only; so importing a log twice, or again when it has grown, names the same blocks.
 */

import type { BlockEvent } from "@blockyard/kernel";
import { LineReader } from "./framing/lines.ts";

export interface LogFile {
  /** Relative to the folder of the session's main file, with `/`. */
  readonly path: string;
  text(): string;
  lines(): Iterable<string>;
}

export interface LogFiles {
  readonly main: LogFile;
  /** Files beside it that may belong to it: sub-agents' logs, large tool results. */
  readonly sidecars: readonly LogFile[];
}

/** `run` prefixes the block keys, as with adapters. Total: never throws. */
export type Importer = (files: LogFiles, run: string) => readonly BlockEvent[];

/** One session on a disk, before anything of it is read. Paths are relative to the home folder given to the finder. */
export interface FoundLog {
  readonly provider: string;
  readonly path: string;
  readonly sidecars: readonly string[];
}

export interface FolderEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

/** A directory listing, relative to the home folder; an empty list without such a folder. */
export type ListFolder = (path: string) => readonly FolderEntry[];

/** Finds the sessions of one provider below a home folder such as `~/.claude` or `~/.codex`. */
export type LogFinder = (list: ListFolder) => readonly FoundLog[];

/** A log file whose text is loaded. */
export function logFile(path: string, text: string): LogFile {
  return { path, text: () => text, lines: () => linesOf(text) };
}

/** A log file as bytes: decoded on demand, including a torn or over-long line. */
export function logBytes(path: string, read: () => Uint8Array): LogFile {
  const decoder = new TextDecoder("utf-8");
  return { path, text: () => decoder.decode(read()), lines: () => byteLines(read()) };
}

function* linesOf(text: string): Iterable<string> {
  for (const line of text.split("\n")) {
    const bare = line.endsWith("\r") ? line.slice(0, -1) : line;
    if (bare.trim() !== "") yield bare;
  }
}

function* byteLines(bytes: Uint8Array): Iterable<string> {
  const reader = new LineReader();
  for (const line of [...reader.push(bytes), ...reader.end()]) {
    if (line.text.trim() !== "") yield line.text;
  }
}
