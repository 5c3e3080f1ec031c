/**
 * A session of very many lines in the terminal of the agent itself: Claude Code's `--resume`, with a log of as many
 * lines as the page opens beside it. The real program, in a new home folder, without a network.
 */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchCli } from "../../test/e2e/clis/fetch.ts";
import type { Report } from "../bench.ts";
import { textOf } from "./load.ts";

const LIMIT_MS = 120_000;
/** A prompt in so many lines; the others are answers. */
const PROMPT_EVERY = 20;

/** Until the last line is drawn, and the program's memory then; undefined if the program is unavailable. */
export async function giantPeer(
  lines: number,
  report: Report,
): Promise<{ readonly peerGiantOpenMs: number; readonly peerGiantMb: number } | undefined> {
  const found = await fetchCli("claude");
  if ("missing" in found) {
    report.note(`Claude Code was not measured: ${found.missing}`);
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), "blockyard-giant-"));
  try {
    const { session, env, work } = prepare(folder, lines);
    const opened = await open(found.program, session, work, env, `${lines - 1}.`);
    report.note(
      `Claude Code's own terminal shows the end of a session of ${lines} lines after ${opened.ms.toFixed(0)} ms, with ${opened.mb.toFixed(0)} MB`,
    );
    return { peerGiantOpenMs: opened.ms, peerGiantMb: opened.mb };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A home whose owner has used it before, and has one long session. */
function prepare(folder: string, lines: number) {
  const [work, config] = [join(folder, "work"), join(folder, "claude")];
  const session = randomUUID();
  const logs = join(config, "projects", work.replaceAll(/[^a-zA-Z0-9]/g, "-"));
  for (const each of [work, logs]) mkdirSync(each, { recursive: true });
  const key = "no-real-key";
  writeFileSync(join(logs, `${session}.jsonl`), `${logOf(session, work, lines).join("\n")}\n`);
  writeFileSync(
    join(config, ".claude.json"),
    JSON.stringify({
      ...{ hasCompletedOnboarding: true, theme: "dark" },
      customApiKeyResponses: { approved: [key], rejected: [] },
      projects: { [work]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
    }),
  );
  const env = {
    ...{ PATH: process.env["PATH"] ?? "", TERM: "xterm-256color", HOME: folder, CLAUDE_CONFIG_DIR: config },
    ...{ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: "http://127.0.0.1:9" },
    ...{ CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", DISABLE_AUTOUPDATER: "1", DISABLE_TELEMETRY: "1" },
  };
  return { session, env, work };
}

function logOf(session: string, cwd: string, lines: number): string[] {
  let parent: string | null = null;
  return Array.from({ length: lines }, (_, i) => {
    const uuid = randomUUID();
    const text = `Line ${i}. ${textOf((i * 37) % 400)}`;
    const message =
      i % PROMPT_EVERY === 0
        ? { role: "user", content: text }
        : {
            ...{ id: `msg_${i}`, type: "message", role: "assistant", model: "claude-sonnet-4-5" },
            content: [{ type: "text", text }],
            ...{ stop_reason: "end_turn", usage: { input_tokens: 10, output_tokens: 10 } },
          };
    const line = {
      ...{ parentUuid: parent, isSidechain: false, userType: "external", cwd, sessionId: session },
      ...{ version: "2.1.325", type: message.role, message, uuid },
      timestamp: new Date(Date.UTC(2026, 0, 1) + i * 1_000).toISOString(),
    };
    parent = uuid;
    return JSON.stringify(line);
  });
}

/** From its start until `last` is drawn on a terminal of 120 columns and 40 rows. */
function open(
  program: string,
  session: string,
  cwd: string,
  env: Record<string, string>,
  last: string,
): Promise<{ readonly ms: number; readonly mb: number }> {
  return new Promise((resolve, reject) => {
    const since = performance.now();
    const command = `stty cols 120 rows 40; exec '${program}' --resume ${session}`;
    const child = spawn("script", ["-qfec", command, "/dev/null"], {
      cwd,
      env,
      stdio: ["pipe", "pipe", "ignore"],
    });
    const late = setTimeout(() => end(() => reject(new Error(`not shown: ${drawn.slice(-500)}`))), LIMIT_MS);
    let drawn = "";
    const end = (then: () => void) => {
      clearTimeout(late);
      child.kill("SIGKILL");
      then();
    };
    child.once("error", reject);
    child.stdout.on("data", (bytes: Buffer) => {
      drawn += bytes.toString();
      if (!drawn.includes(last)) return;
      child.stdout.removeAllListeners("data");
      const ms = performance.now() - since;
      end(() => resolve({ ms, mb: residentMb(session) }));
    });
  });
}

/** Of the processes that were started with the session's id, the largest. */
function residentMb(session: string): number {
  let kb = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(session)) continue;
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      kb = Math.max(kb, Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0));
    } catch {
      // it has ended meanwhile
    }
  }
  return kb / 1_024;
}
