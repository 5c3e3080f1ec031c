/** Sessions as Claude Code keeps them, as many as are wanted, and what an import has made of them. */
import { copyFileSync, mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Block, keyIn, type Store } from "@blockyard/kernel";

const RECORDED = fileURLToPath(new URL("../packages/providers/fixtures/claude-sessions", import.meta.url));

/** Long ago: a log that has just changed is taken for one that goes on. */
const ENDED = new Date("2026-01-01T12:00:00Z");

/** Puts sessions where `CLAUDE_CONFIG_DIR` is; each has another name. */
export function putSessions(claudeHome: string, count: number): void {
  const logs = readdirSync(RECORDED).flatMap((folder) =>
    readdirSync(join(RECORDED, folder))
      .filter((file) => /^[-\da-f]{36}\.jsonl$/.test(file))
      .map((file) => join(RECORDED, folder, file)),
  );
  const project = join(claudeHome, "projects", "-work");
  mkdirSync(project, { recursive: true });
  for (let n = 0; n < count; n++) {
    const name = `00000000-0000-4000-8000-${String(n).padStart(12, "0")}.jsonl`;
    copyFileSync(logs[n % logs.length] as string, join(project, name));
    utimesSync(join(project, name), ENDED, ENDED);
  }
}

export interface Stored {
  readonly conversations: number;
  readonly blocks: number;
  /** Conversations in which an event has become two blocks. */
  readonly doubled: number;
}

/** Of imported sessions only: a server has others as well. */
export async function storedIn(store: Store): Promise<Stored> {
  const all = await store.conversations({ limit: 1e6 });
  const records = all.filter(({ metadata }) => metadata["imported"] !== undefined);
  const found = await Promise.all(
    records.map(({ id }) => store.blocks({ conversation: id, order: "first", limit: 1e6 })),
  );
  return {
    conversations: records.length,
    blocks: found.reduce((sum, blocks) => sum + blocks.length, 0),
    doubled: found.filter(isDoubled).length,
  };
}

function isDoubled(blocks: readonly Block[]): boolean {
  const keys = blocks.map(keyIn).filter((key) => key !== undefined);
  return new Set(keys).size < keys.length;
}
