/**
 * Files as the tools of an agent's loop use them: whole texts, by path. If a file has a block, reads return its text,
 * and writes are edits of the block, under the agent's name, if the text is still the one that the agent has read.
 */

import { isProblem, type Kernel, type Problem, problem } from "@blockyard/kernel";
import { replaceText } from "./file-block.ts";
import type { Files } from "./files.ts";

export interface LoopFiles {
  /** The text of a file that has a block; undefined where it has none. */
  read(path: string): Promise<{ readonly text: string | undefined } | Problem | undefined>;
  /** Why a file is guarded from this agent; undefined where it is not, or is granted to it. */
  guardOf(path: string): string | undefined;
  /**
   * An edit of the block, on the disk when it is answered. `before` is what the agent has seen; `isPermitted`: the owner
   * was asked for this very file.
   */
  write(
    path: string,
    text: string,
    before: string | undefined,
    isPermitted: boolean,
  ): Promise<Problem | undefined>;
  /** Everything that is not saved is saved. */
  save(): Promise<void>;
}

export function loopFiles(files: Files, kernel: Kernel, agent: string): LoopFiles {
  return {
    read: (path) => readText(files, kernel, path),
    guardOf: (path) => files.guarded.guardFor(path, agent),
    write: (path, text, before, isPermitted) =>
      writeText(files, kernel, agent, { path, text, before, isPermitted }),
    save: () => files.flushAll(),
  };
}

async function readText(
  files: Files,
  kernel: Kernel,
  path: string,
): Promise<{ readonly text: string | undefined } | Problem | undefined> {
  const place = await files.locate(path, true);
  const id = isProblem(place) ? undefined : files.idOf(place.name);
  if (id === undefined) return undefined;
  await files.touch(id);
  const whole = await kernel.whole(id);
  if (isProblem(whole)) return whole;
  return { text: whole.metadata.missing === true ? undefined : whole.text };
}

interface Writing {
  readonly path: string;
  readonly text: string;
  readonly before: string | undefined;
  readonly isPermitted: boolean;
}

async function writeText(
  files: Files,
  kernel: Kernel,
  agent: string,
  { path, text, before, isPermitted }: Writing,
): Promise<Problem | undefined> {
  const create = before === undefined;
  const content = create ? text : undefined;
  const opened = await files.open(path, { agent, isOwner: isPermitted, create, content });
  if (isProblem(opened)) return opened;
  const { id } = opened.block;
  if (!opened.created) {
    const written = await kernel.writeBlock(id, {
      agent,
      plan: (draft) => replaceText(draft, id, before ?? "", text),
    });
    if (isProblem(written)) return written;
  }
  const refused = await files.flush(id);
  if (refused) return refused;
  const block = await kernel.block(id);
  const conflict = isProblem(block) ? undefined : block.metadata.conflict;
  return conflict && problem("conflict", `${conflict.message}: resolve the conflict first (file.resolve)`);
}
