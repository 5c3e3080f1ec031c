/**
 * bash: a command as a `command` block, whose text is what the command prints, in the order in which it prints it, as it
 * comes. Run by /bin/bash without profile or rc files, the command being an argument and nothing pasted around it; in a
 * process group of its own, with a time limit, killed with all that it started when the turn is stopped.
 */

import type { Outcome } from "@blockyard/providers";
import { rowOf } from "@blockyard/providers";
import { z } from "zod";
import { Child, type ChildEnd, type ChildSpec } from "../../../processes/child.ts";
import { childEnvironment } from "../../../processes/child-env.ts";
import { BASH_MS, BASH_OUTPUT_CHARS, LONGEST_BASH_MS } from "../limits.ts";
import { type Guarded, guardedIn, noteOf } from "./guarded.ts";
import { loopTool, type ToolRun } from "./tool.ts";

export const bashTool = loopTool({
  name: "bash",
  description:
    "Run a command with bash in the workspace root. Every call is a new shell. Its output (stdout and stderr together) " +
    "is returned when it ends; its background processes are ended with it. It may be sandboxed: then only " +
    "the workspace is writable, and the network may be off.",
  input: z.strictObject({
    command: z.string().min(1).max(100_000),
    timeout_ms: z.number().int().min(1_000).max(LONGEST_BASH_MS).default(BASH_MS),
    description: z.string().max(500).optional().describe("What the command does, in a few words"),
  }),
  async run({ command, timeout_ms, description }, run) {
    await run.workspace.save();
    const sandbox = await run.sandbox?.state();
    run.open("command", {
      command,
      ...(sandbox === undefined ? {} : { sandbox: sandbox.words }),
      cwd: run.workspace.root,
      ...(description === undefined ? {} : { description }),
    });
    const isConfined = sandbox?.isConfined === true;
    const known = isConfined && !run.isSeen ? run.sandbox?.guarded : undefined;
    const veil = known && (await guardedIn(run.workspace, known));
    return new Command(command, await specOf(command, run, veil), run, veil?.unseen).ended(timeout_ms);
  },
});

/** The shell, confined where that can be. */
async function specOf(
  command: string,
  { env: given, workspace, sandbox }: ToolRun,
  veil: Guarded | undefined,
): Promise<ChildSpec> {
  const env = childEnvironment("shell", given);
  // The outer shell only joins the two outputs; the command reaches the inner one unchanged.
  const join = 'exec "$0" --noprofile --norc -c -- "$1" 2>&1';
  const args = ["--noprofile", "--norc", "-c", join, "/bin/bash", command];
  const spec = { file: "/bin/bash", args, cwd: workspace.root, env, isMute: true };
  return sandbox ? sandbox.confine(spec, { veil }) : spec;
}

/** One command that runs. */
class Command {
  readonly #command: string;
  readonly #run: ToolRun;
  readonly #child: Child;
  /** Guarded files that it does not see. */
  readonly #unseen: readonly string[];
  #text = "";
  #leftOut = 0;
  #isLate = false;

  constructor(command: string, spec: ChildSpec, run: ToolRun, unseen: readonly string[] = []) {
    this.#unseen = unseen;
    this.#command = command;
    this.#run = run;
    this.#child = new Child(spec, run.tracker);
  }

  async ended(timeoutMs: number): Promise<Outcome> {
    const began = performance.now();
    const kill = () => this.#child.kill();
    const timer = setTimeout(() => {
      this.#isLate = true;
      kill();
    }, timeoutMs);
    this.#run.signal.addEventListener("abort", kill);
    if (this.#run.signal.aborted) kill();
    try {
      const decoder = new TextDecoder();
      for await (const bytes of this.#child.output()) this.#print(decoder.decode(bytes, { stream: true }));
      this.#print(decoder.decode());
      const end = await this.#child.ended;
      const { failed } = end;
      if (failed !== undefined) this.#print(`bash could not be started: ${failed}\n`);
      const isWell = failed === undefined && end.code === 0;
      const note = noteOf(this.#unseen, isWell ? `${this.#command}\n${this.#text}` : undefined);
      if (note !== undefined) this.#print(`\n[${note}]\n`);
      const durationMs = Math.round(performance.now() - began);
      return this.#outcome(end, durationMs, timeoutMs);
    } finally {
      clearTimeout(timer);
      this.#run.signal.removeEventListener("abort", kill);
    }
  }

  #print(text: string): void {
    const room = BASH_OUTPUT_CHARS - this.#text.length;
    const kept = text.length <= room ? text : text.slice(0, Math.max(0, room)).toWellFormed();
    this.#leftOut += text.length - kept.length;
    if (kept === "") return;
    this.#text += kept;
    this.#run.grow(kept);
  }

  #outcome({ code, signal, failed }: ChildEnd, durationMs: number, timeoutMs: number): Outcome {
    const isStopped = this.#run.signal.aborted;
    const why = this.#isLate
      ? `timed out after ${timeoutMs} ms`
      : isStopped
        ? "stopped"
        : failed !== undefined
          ? `bash could not be started: ${failed}`
          : signal === null
            ? code === 0
              ? undefined
              : `exit code ${code}`
            : `ended by signal ${signal}`;
    const left = this.#leftOut === 0 ? "" : `\n[… ${this.#leftOut} more characters …]`;
    const late = this.#isLate ? `\n[${why}]` : "";
    return {
      failed: why !== undefined,
      durationMs,
      ...(why === undefined ? { shortResult: rowOf(this.#text) ?? "no output" } : { error: why }),
      result: {
        kind: "command",
        text: this.#text + left + late,
        metadata: {
          command: this.#command,
          exitCode: code,
          durationMs,
          ...(why === undefined ? {} : { isError: true }),
          ...(this.#isLate || isStopped ? { interrupted: true } : {}),
          ...(this.#leftOut === 0 ? {} : { truncatedChars: this.#leftOut }),
        },
      },
    };
  }
}
