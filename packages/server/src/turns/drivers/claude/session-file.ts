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

interface SessionPlace {
  /** Of the agent. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly session: string;
}

/** `said`: the name of the last words of the process that waits. */
export async function isContinuedElsewhere(place: SessionPlace, said: string): Promise<boolean> {
  const text = await tailOf(place);
  const at = text.lastIndexOf(`"uuid":${JSON.stringify(said)}`);
  // It may not have written them yet.
  if (at < 0) return false;
  return text.slice(at).split("\n").slice(1).some(isAnswer);
}

/** Words of the model in the main conversation. */
function isAnswer(line: string): boolean {
  const { type, isSidechain, message }: { [name: string]: Json } = parsed(line) ?? {};
  return type === "assistant" && isSidechain !== true && objectOf(message)["role"] === "assistant";
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
