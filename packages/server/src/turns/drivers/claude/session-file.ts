/**
 * The file in which Claude Code keeps a session, as far as a process that waits for its next turn is concerned: whether another process
 * has gone on with the session meanwhile, such as `claude --resume` in a terminal. The one that waits does not notice that, and what it
 * went on with would be a branch of the session that knows nothing of the other.
 *
 * Reads only. Where the file is not found, or not as it is known, nobody has gone on.
 */

import { open, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { Json } from "@blockyard/kernel";
import { bounds } from "../limits.ts";
import { objectOf, parsed } from "./line.ts";

export interface SessionPlace {
  /** Of the agent. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly session: string;
}

/** What another process has added to a session. */
export interface AddedMessages {
  readonly prompts: number;
  readonly answers: number;
}

/** `said`: the name of the last words that were said here. Undefined if nobody has gone on. */
export async function saidElsewhere(place: SessionPlace, said: string): Promise<AddedMessages | undefined> {
  const text = await tailOf(place);
  const at = text.lastIndexOf(`"uuid":${JSON.stringify(said)}`);
  // They may not be written yet.
  if (at < 0) return undefined;
  const lines = text.slice(at).split("\n").slice(1);
  const messages = lines.map((line) => parsed(line) ?? {}).filter(({ isSidechain }) => isSidechain !== true);
  const answers = new Set(messages.filter(isAnswer).map(({ message }) => objectOf(message)["id"] ?? message));
  return answers.size === 0
    ? undefined
    : { prompts: messages.filter(isPrompt).length, answers: answers.size };
}

/** Words of the model in the main conversation: several lines for one message. */
function isAnswer({ type, message }: { [name: string]: Json }): boolean {
  return type === "assistant" && objectOf(message)["role"] === "assistant";
}

/** What a person has written; commands of the program and their output are marked up. */
function isPrompt({ type, message, isMeta }: { [name: string]: Json }): boolean {
  if (type !== "user" || isMeta === true) return false;
  const { content } = objectOf(message);
  const parts = Array.isArray(content) ? content.map(objectOf) : [{ type: "text", text: content ?? "" }];
  if (parts.some((part) => part["type"] === "tool_result")) return false;
  return parts.some(({ type: kind, text }) => kind === "text" && !String(text).startsWith("<"));
}

/** The end of the session's file; empty where there is none. */
async function tailOf({ env, cwd, session }: SessionPlace): Promise<string> {
  const projects = join(env["CLAUDE_CONFIG_DIR"] || join(env["HOME"] || homedir(), ".claude"), "projects");
  const names = await readdir(projects).catch((): string[] => []);
  // Its folder is named after the one that it works in.
  const own = cwd.replace(/[^A-Za-z0-9]/g, "-");
  for (const name of names.sort((a, b) => Number(b === own) - Number(a === own))) {
    const text = await endOf(join(projects, name, `${session}.jsonl`));
    if (text !== undefined) return text;
  }
  return "";
}

/** Undefined where there is no such file. */
async function endOf(path: string): Promise<string | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const { size } = await file.stat();
    const bytes = Math.min(size, bounds.sessionTailBytes);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, size - bytes);
    return buffer.toString("utf8", 0, bytesRead);
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}
