/**
 * Replay: a recording of a real run, fed through the same door as a live one, at a chosen speed. It is what a first start
 * shows when there is no agent and no key yet, and it is said to be a recording.
 */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isProblem, type Kernel, type Problem, problem } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { StreamIngest } from "../ingest-stream.ts";

export interface Recording {
  readonly name: string;
  readonly provider: string;
  readonly title: string;
  readonly prompt: string;
}

export const RECORDINGS: readonly Recording[] = [
  {
    name: "claude-tour",
    provider: "claude",
    title: "A recorded Claude Code session",
    prompt: "Look around, change some files and run something.",
  },
  {
    name: "codex-tour",
    provider: "codex",
    title: "A recorded Codex session",
    prompt: "Look around, plan, patch a file and run something.",
  },
];

const LINE_MS = 25;

export function recordingPath(name: string): string {
  return fileURLToPath(new URL(`../../recordings/${name}.jsonl`, import.meta.url));
}

/**
 * Plays a recording into a new conversation; answers with its id at once, the rest goes on by itself. `done` never rejects: it
 * is what the recording was cut by, if it was.
 */
export async function replay(
  kernel: Kernel,
  recording: Recording,
  owner: string,
  speed: number,
  signal?: AbortSignal,
): Promise<{ readonly conversation: string; readonly done: Promise<Problem | undefined> } | Problem> {
  const provider = providers.get(recording.provider);
  if (!provider) return problem("not_found", `no provider ${recording.provider}`);
  const conversation = await kernel.createConversation(owner, recording.title);
  if (isProblem(conversation)) return conversation;
  const asked = await kernel.write(conversation, {
    agent: owner,
    plan: (draft) => draft.create({ kind: "text", role: "user", text: recording.prompt, status: "done" }),
  });
  if (isProblem(asked)) return asked;
  const stream = new StreamIngest(kernel, { conversation, agent: recording.provider, provider });
  const play = async (): Promise<Problem | undefined> => {
    const refused = await stream.open();
    if (refused) return refused;
    for (const line of readFileSync(recordingPath(recording.name), "utf8").split("\n")) {
      if (signal?.aborted) break;
      const stuck = await stream.push(Buffer.from(`${line}\n`));
      if (stuck) return stuck;
      await sleep(LINE_MS / speed);
    }
    return stream.end();
  };
  const cut = (error: unknown) => problem("storage", String((error as Error)?.message ?? error));
  return { conversation, done: play().catch(cut) };
}
