/** The server on which `blockyard demo` plays, and the play: what its agents do, and what came of it. */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { randomName } from "@blockyard/kernel";
import { Auth, ownerName } from "../access/auth.ts";
import { serve } from "../app/serve.ts";
import { makeConfig } from "../config/config.ts";
import { FileThere, runScenario, type Verdict } from "../demo/scenario.ts";
import type { Deed, Seat } from "../demo/scripted-agent.ts";
import { CAST, DEMO_LINES, DEMO_PATH } from "../demo/story.ts";
import { nodeEnv } from "../system/env.ts";
import { jsonLog } from "../system/log.ts";
import { runningServer, serverClient } from "./client.ts";
import { CommandError } from "./command.ts";
import { lineWidth, print, printNote, styleFor } from "./terminal.ts";

export { DEMO_PATH };

/** An agent acts this often, so that a reader can follow. */
const LEAST_PAUSE_MS = 250;
const MORE_PAUSE_MS = 650;

/** A server to play on. */
export interface Stage {
  /** For the agents, and for a browser. */
  readonly url: string;
  readonly page: string;
  readonly ownerToken: string;
  readonly auth: Auth;
  close(): Promise<void>;
}

export async function ownStage(): Promise<Stage> {
  const folder = mkdtempSync(join(tmpdir(), "blockyard-demo-"));
  const home = mkdtempSync(join(tmpdir(), "blockyard-demo-home-"));
  const log = jsonLog((line) => process.stderr.write(line), Date.now);
  const quiet: typeof log = (level, event, fields) => {
    if (level === "error") log(level, event, fields);
  };
  const running = await serve(makeConfig({ env: {}, home, root: folder, port: 0 }), quiet);
  return {
    url: running.url,
    page: running.url,
    ownerToken: running.auth.ownerToken,
    auth: running.auth,
    async close() {
      await running.stop();
      for (const each of [folder, home]) rmSync(each, { recursive: true, force: true });
    },
  };
}

export function runningStage(given: string | undefined): Stage {
  const { home } = makeConfig({ env: process.env, ...(given === undefined ? {} : { home: given }) });
  const { url, local } = runningServer(home);
  const auth = new Auth(home, ownerName(), () => nodeEnv.monotonic());
  return { url: local ?? url, page: url, ownerToken: auth.ownerToken, auth, close: async () => undefined };
}

export async function play(
  stage: Stage,
  seconds: number,
  isQuiet: boolean,
  stopped: AbortSignal,
): Promise<Verdict> {
  const { url, page, ownerToken, auth } = stage;
  // Unused names: at the end their tokens are revoked, and only those.
  const suffix = randomName(nodeEnv, 4);
  const names = CAST.map((name) => `${name}-${suffix}`);
  const seats: Seat[] = names.map((agent) => seatAt(url, agent, auth.create(agent, "agent")));
  let began = performance.now();
  /** A demo without any action would show nothing. */
  const hasActed = new Set<string>();
  try {
    return await runScenario({
      owner: seatAt(url, "owner", ownerToken),
      guest: auth.ownerAgent,
      seats,
      random: () => nodeEnv.random() / 2 ** 32,
      next: async (agent) => {
        const pause = LEAST_PAUSE_MS + (nodeEnv.random() / 2 ** 32) * MORE_PAUSE_MS;
        await sleep(pause, undefined, { signal: stopped }).catch(() => undefined);
        const isFirst = !hasActed.has(agent);
        hasActed.add(agent);
        return (isFirst || performance.now() < began + seconds * 1_000) && !stopped.aborted;
      },
      onDeed: (deed) => {
        if (!isQuiet) printDeed(deed, (performance.now() - began) / 1_000, suffix);
      },
      opened: async () => {
        if (!isQuiet) await introduce(page, auth.makeLink(), seconds);
        began = performance.now();
      },
    });
  } catch (error) {
    if (!(error instanceof FileThere)) throw error;
    throw new CommandError(`${error.message}: delete it from the workspace or run without --here`);
  } finally {
    for (const name of names) auth.revoke(name);
  }
}

function seatAt(url: string, agent: string, token: string): Seat {
  const client = serverClient({ url, token });
  return { agent, call: client.call };
}

async function introduce(page: string, code: string, seconds: number): Promise<void> {
  const style = styleFor(process.stdout);
  const link = `${page}/files?path=${encodeURIComponent(DEMO_PATH)}&link=${code}`;
  await print(
    `\n  Three agents edit ${style.bold(DEMO_PATH)} (${DEMO_LINES} lines) for ${seconds} seconds:\n` +
      "  they insert and reword lines, apply patches and undo their own edits, all at\n" +
      "  the same time. Open the file and type in it too:\n\n" +
      `  ${style.cyan(link)}\n\n`,
  );
}

function printDeed({ agent, did, line, text }: Deed, atSeconds: number, suffix: string): void {
  const style = styleFor(process.stdout);
  const name = agent.replace(`-${suffix}`, "");
  const where = line === undefined ? "" : ` line ${line + 1}`;
  const what =
    did === "retried" ? `${where}: someone else had just changed it` : `${where}  ${(text ?? "").trim()}`;
  const before = `  ${atSeconds.toFixed(1).padStart(6)} s  `;
  const said = `${did.padEnd(9)}${what}`.replaceAll(`-${suffix}`, "");
  const room = lineWidth() - before.length - 7;
  const shown = said.length <= room ? said : `${said.slice(0, room - 1)}…`;
  void print(`${before}${style.bold(name.padEnd(6))} ${shown}\n`);
}

export async function conclude({ ok, deeds, lines, wrong }: Verdict): Promise<void> {
  const style = styleFor(process.stdout);
  const { inserted, patched, reworded, undid, redid } = deeds;
  const edits = inserted + patched + reworded;
  await print(
    `\n  ${edits} edits, ${undid + redid} undos and redos, ${deeds.retried} conflicts; ${lines} lines by agents remain.\n` +
      `  Then each agent undid all its edits and redid them.\n\n`,
  );
  if (ok) {
    await print(
      `  ${style.green("Nothing was lost")}: every undo removed only its own agent's edits, and the file\n  on disk matches the block.\n\n`,
    );
    return;
  }
  for (const each of wrong.slice(0, 20)) printNote(`  ${style.red("lost")}  ${each}`);
}

export async function stay({ page, auth }: Stage, stopped: AbortSignal): Promise<void> {
  await print(`  The server keeps running: ${page}/?link=${auth.makeLink()}\n  Stop it with Ctrl-C.\n\n`);
  if (!stopped.aborted) await new Promise((end) => stopped.addEventListener("abort", end, { once: true }));
}
