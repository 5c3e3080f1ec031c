/**
 * Replay: feeds a recorded run like a live one, at a chosen speed. A first start shows such recordings, marked as such, because
 * there is no agent or key yet.
 */

import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { isProblem, type Kernel, type Problem, problem } from "@blockyard/kernel";
import { providers } from "@blockyard/providers";
import { StreamIngest } from "../ingest/ingest-stream.ts";

export interface Recording {
  readonly name: string;
  readonly provider: string;
  readonly title: string;
  readonly prompt: string;
  /** Between two lines: streams of one agent have many short ones, those of another few long ones. */
  readonly lineMs: number;
}

/** A folder of nobody's: whoever goes on there is asked where to work. */
const RECORDED_IN = "/home/dev/shop";

/** One story in two parts: a bug is found and fixed, then the fix is reviewed. */
export const RECORDINGS: readonly Recording[] = [
  {
    name: "codex-shop",
    provider: "codex",
    title: "Review the fix (recorded)",
    prompt: "Review the fix of discounted() in src/price.js, and add the test that is missing.",
    lineMs: 900,
  },
  {
    name: "claude-shop",
    provider: "claude",
    title: "A missing cent (recorded)",
    prompt: "A 90 % voucher on €10.00 costs the customer €0.99 instead of €1.00. Find out why and fix it.",
    lineMs: 60,
  },
];

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
    plan: (draft) => {
      // Not every stream says it; without it, a command would run again in the folder that is served.
      draft.conversation({ metadata: { cwd: RECORDED_IN, recorded: true } });
      return draft.create({ kind: "text", role: "user", text: recording.prompt, status: "done" });
    },
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
      await sleep(recording.lineMs / speed);
    }
    return stream.end();
  };
  const cut = (error: unknown) => problem("storage", String((error as Error)?.message ?? error));
  return { conversation, done: play().catch(cut) };
}
