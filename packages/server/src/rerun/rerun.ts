/**
 * Running the command of a block again: confirmed by the owner first, then run by bash exactly as it was shown, its output
 * streamed into a new command block below the old one.
 *
 * No surprise from the shell: no login or start-up file, no functions or options from the environment, nothing on its
 * input, and the command is one argument that is never taken for an option. It has its own process group and a time limit,
 * and nothing that it started outlives it.
 */

import { isAbsolute, join } from "node:path";
import {
  type Block,
  type BlockId,
  isProblem,
  isShellCommand,
  type JsonObject,
  type Kernel,
  type Problem,
  problem,
} from "@blockyard/kernel";
import { Child, type ChildSpec } from "../processes/child.ts";
import { childEnvironment } from "../processes/child-env.ts";
import type { Environment } from "../processes/child-mark.ts";
import { folderFor } from "../processes/folder.ts";
import type { ProcessTracker } from "../processes/process-tracker.ts";
import { visible } from "../processes/visible.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Confirmations, type RunWish, type Subject } from "./confirmation.ts";
import { MAX_RUNNING_COMMANDS } from "./limits.ts";
import { Output } from "./output.ts";

interface RerunOptions {
  readonly kernel: Kernel;
  readonly root: string;
  readonly env: Environment;
  readonly tracker: ProcessTracker;
  /** Without one, commands are not confined. */
  readonly sandbox?: Sandbox;
  /** Takes secrets out of what is stored. */
  readonly isRedacted?: boolean;
}

interface Confirmed {
  readonly confirmation: string;
  readonly command: string;
  readonly commandVisible: string;
  readonly cwd: string;
  readonly cwdVisible: string;
  readonly version: number;
  readonly sandbox: string;
  readonly expiresAt: number;
}

interface Running {
  readonly child: Child;
  readonly done: Promise<void>;
  reason: "cancelled" | "interrupted" | undefined;
}

const SHELL = "/bin/bash";

export class Reruns {
  readonly #options: RerunOptions;
  readonly #confirmations: Confirmations;
  readonly #running = new Map<BlockId, Running>();
  #isClosed = false;

  constructor(options: RerunOptions) {
    this.#options = options;
    this.#confirmations = new Confirmations(options.kernel.env);
  }

  /** What would run, for the owner to look at; and the word that lets it. */
  async confirm(by: string, id: BlockId, wish: RunWish = {}): Promise<Confirmed | Problem> {
    const subject = await this.#subject(by, id, wish);
    if (isProblem(subject)) return subject;
    const { command, folder, version, sandbox } = subject;
    const made = this.#confirmations.make(subject);
    const shown = { commandVisible: visible(command), cwdVisible: visible(folder) };
    return { ...made, command, cwd: folder, version, sandbox, ...shown };
  }

  /** Runs it; the new block, in which its output appears. */
  async run(by: string, id: BlockId, confirmation: string, limitMs: number): Promise<BlockId | Problem> {
    const subject = await this.#subject(by, id, this.#confirmations.wish(confirmation));
    // Used up even where the block is gone by now: a confirmation never gets a second chance.
    const none = { by, block: id, version: -1, command: "", cwd: "", folder: "", sandbox: "" };
    const refused = this.#confirmations.take(confirmation, isProblem(subject) ? none : subject);
    if (isProblem(subject)) return subject;
    if (refused) return refused;
    if (this.#isClosed) return problem("unavailable", "the server is stopping");
    if (this.#running.size >= MAX_RUNNING_COMMANDS)
      return problem("busy", `${this.#running.size} commands are already running; stop one`);
    await this.#options.tracker.swept;
    const created = await this.#create(subject);
    if (isProblem(created)) return created;
    this.#start(created, subject, await this.#spec(subject), limitMs);
    return created;
  }

  async stop(id: BlockId): Promise<{ readonly stopped: boolean }> {
    const running = this.#running.get(id);
    if (!running) return { stopped: false };
    running.reason ??= "cancelled";
    running.child.stop();
    await running.done;
    return { stopped: true };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const all = [...this.#running.values()];
    for (const running of all) {
      running.reason ??= "interrupted";
      running.child.kill();
    }
    await Promise.all(all.map(({ done }) => done));
  }

  /** The block as it stands now: what is confirmed, and what is compared when it is to run. */
  async #subject(by: string, id: BlockId, { chosen, network }: RunWish): Promise<Subject | Problem> {
    const { kernel, root } = this.#options;
    const block = await kernel.block(id);
    if (isProblem(block)) return block;
    if (!isShellCommand(block))
      return problem("invalid", `block ${id} is not a shell command`, { kind: block.kind });
    const own = await this.#ownFolder(block);
    if (isProblem(own)) return own;
    const folder = folderFor(root, { chosen, own, whose: "command" });
    if (isProblem(folder)) return folder;
    const command = String(block.metadata.command);
    const sandbox = (await this.#options.sandbox?.state({ network }))?.words ?? "not sandboxed";
    return { by, block: id, version: block.version, command, cwd: own, folder, chosen, sandbox, network };
  }

  /** Where it ran: as the block says, else where its conversation works. Empty where neither is known. */
  async #ownFolder({ conversation, metadata }: Block): Promise<string | Problem> {
    const cwd = metadata.cwd ?? "";
    if (isAbsolute(cwd)) return cwd;
    const record = await this.#options.kernel.conversation(conversation);
    if (isProblem(record)) return record;
    const base = record.metadata.cwd ?? "";
    return base === "" ? cwd : join(base, cwd);
  }

  /** Only if the block is, in the commit itself, still what was confirmed. */
  async #create({ by, block, version, command, folder, sandbox }: Subject): Promise<BlockId | Problem> {
    // It dies with this process, whoever asked for it: a start must find whose it was.
    const { node = "local" } = this.#options.kernel;
    const created = await this.#options.kernel.writeBlock<Block>(block, {
      agent: by,
      plan: (draft) => {
        const now = draft.block(block);
        if (isProblem(now)) return now;
        if (now.version !== version)
          return problem("conflict", `block ${block} has just changed; confirm the command again`);
        return draft.create({
          kind: "command",
          role: "tool",
          parent: block,
          side: true,
          status: "running",
          metadata: { command, cwd: folder, sandbox, notice: "rerun", node },
        });
      },
    });
    return isProblem(created) ? created : created.id;
  }

  /** The shell, confined as it was shown. */
  async #spec({ command, folder, network }: Subject): Promise<ChildSpec> {
    const { env, sandbox } = this.#options;
    const spec = {
      file: SHELL,
      args: ["--noprofile", "--norc", "-c", "--", command],
      cwd: folder,
      env: childEnvironment("shell", env),
      // A shell whose input is a socket takes itself for a remote one, and reads start-up files.
      isMute: true,
    };
    return sandbox ? sandbox.confine(spec, { network }) : spec;
  }

  #start(id: BlockId, { by }: Subject, spec: ChildSpec, limitMs: number): void {
    const { kernel, tracker, isRedacted = false } = this.#options;
    const output = new Output(kernel, id, by, isRedacted);
    const startMs = kernel.env.monotonic();
    const child = new Child(spec, tracker, { onErrors: (bytes) => output.errors(bytes) });
    const cancel = kernel.env.after(limitMs, () => {
      running.reason ??= "interrupted";
      child.stop();
    });
    const follow = async (): Promise<void> => {
      for await (const bytes of child.output()) await output.push(bytes);
      const end = await child.ended;
      cancel();
      const { reason } = running;
      const failed = end.failed ?? (reason === "interrupted" ? `Stopped after ${limitMs} ms.` : undefined);
      const metadata: JsonObject = {
        exitCode: end.code,
        durationMs: Math.round(kernel.env.monotonic() - startMs),
        ...(reason === undefined && end.signal === null ? {} : { interrupted: true }),
        ...(end.code === 0 ? {} : { reason: reason ?? "failed", isError: true }),
        ...(failed === undefined ? {} : { stderr: failed }),
      };
      await output.end(end.code === 0 ? "done" : "error", metadata);
      this.#running.delete(id);
    };
    const running: Running = { child, done: follow(), reason: undefined };
    this.#running.set(id, running);
  }
}
