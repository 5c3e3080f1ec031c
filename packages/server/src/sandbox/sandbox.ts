/**
 * The sandbox: whether this system can confine a program, tried once, and how one is then started. For commands that run
 * again and for the shell of our own loop it is on where the system can; for agents, which have sandboxes of their own, it is
 * offered. Where it cannot be had, that is said with the reason, and the caller asks the owner every time.
 */

import { execFile } from "node:child_process";
import { realpathSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type ChildSpec, findCommand } from "../processes/child.ts";
import { childEnvironment } from "../processes/child-env.ts";
import type { Environment } from "../processes/child-mark.ts";
import { administratorsHome, administratorsOnly } from "./administrators.ts";
import { bubblewrapArgs, type Confinement, seatbeltProfile } from "./confine.ts";
import { gitObeys } from "./git-obeys.ts";
import { type HiddenPath, hiddenPaths, ownFolders } from "./hidden-paths.ts";
import { hiddenByClass, seenLinks } from "./home-class.ts";
import { inOrder, type KeptPath, putBack } from "./kept-places.ts";
import { KnownPaths } from "./known-paths.ts";
import {
  ARGUMENT_BYTES,
  BUBBLEWRAP_ARGS,
  KNOWN_GUARDED,
  NESTED_REPOSITORIES,
  SANDBOX_TRY_MS,
} from "./limits.ts";
import type { SandboxMode } from "./mode.ts";
import { nestedRepositories } from "./nested.ts";
import { socketsOfOthers } from "./sockets.ts";

export interface SandboxOptions {
  readonly mode: SandboxMode;
  /** Agents are confined too. */
  readonly agents: boolean;
  readonly root: string;
  /** The server's data directory: never seen by what is confined. */
  readonly data: string;
  readonly env: Environment;
}

/** How a program would run. */
interface SandboxState {
  readonly isConfined: boolean;
  /** The owner wants it so. Otherwise the system cannot, and every run is asked for. */
  readonly isChosen: boolean;
  /** `sandboxed, no network`, or `not sandboxed: …`. */
  readonly words: string;
}

interface Wish {
  readonly network?: boolean | undefined;
  /** Of the workspace, what is not seen, and what is only read. */
  readonly veil?: Veil | undefined;
}

export interface Veil {
  readonly hidden: readonly HiddenPath[];
  readonly kept: readonly KeptPath[];
}

interface Tool {
  readonly file: string;
  readonly isSeatbelt: boolean;
}

export class Sandbox {
  readonly #options: SandboxOptions;
  readonly #repositories: KnownPaths;
  /** Guarded files that commands did not see, or only read. */
  readonly guarded: KnownPaths;
  #found: Promise<Tool | string> | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.#repositories = new KnownPaths(join(options.data, "repositories.json"), NESTED_REPOSITORIES);
    this.guarded = new KnownPaths(join(options.data, "guarded.json"), KNOWN_GUARDED);
  }

  get confinesAgents(): boolean {
    return this.#options.agents;
  }

  async state({ network }: Wish = {}): Promise<SandboxState> {
    if (this.#options.mode === "off")
      return { isConfined: false, isChosen: true, words: "not sandboxed: switched off" };
    const found = await this.#find();
    if (typeof found === "string")
      return { isConfined: false, isChosen: false, words: `not sandboxed: ${found}` };
    const words = this.#hasNetwork(network) ? "sandboxed, with network" : "sandboxed, no network";
    return { isConfined: true, isChosen: true, words };
  }

  /** The same program, confined where `state` says so. */
  async confine(spec: ChildSpec, { network, veil }: Wish = {}): Promise<ChildSpec> {
    const found = this.#options.mode === "off" ? "off" : await this.#find();
    if (typeof found === "string") return spec;
    const writable = [...new Set([real(this.#options.root), real(spec.cwd)])];
    const common = await this.#common(writable, spec.cwd);
    const seen = this.#seen(writable);
    return wrap(found, spec, {
      ...{ ...common, ...seen },
      kept: inOrder([...common.kept, ...(veil?.kept ?? [])]),
      hidden: [...seen.hidden, ...(veil?.hidden ?? [])],
      network: this.#hasNetwork(network),
    });
  }

  /** An agent, by its name: its own logins are there, it writes to the home folder, and has the network. `readable`: files that it is given. */
  async confineAgent(agent: string, spec: ChildSpec, readable: readonly string[] = []): Promise<ChildSpec> {
    if (!this.#options.agents) return spec;
    const found = await this.#find();
    if (typeof found === "string") return spec;
    const { root, data } = this.#options;
    const writable = [...new Set([this.#home, real(root), real(spec.cwd)])];
    const own = [real(data), ...administratorsOnly(writable)];
    const hidden = hiddenPaths(this.#home, own, ownFolders(agent));
    const common = await this.#common(writable, spec.cwd);
    return wrap(found, spec, { ...common, readable, hidden, network: true });
  }

  async #common(writable: readonly string[], cwd: string) {
    const nested = await Promise.all(writable.map((folder) => this.#repositoriesIn(folder)));
    const kept = gitObeys(writable, nested.flat());
    return { writable, kept, sockets: socketsOfOthers(), empty: this.#empty, cwd };
  }

  async #repositoriesIn(folder: string): Promise<readonly string[]> {
    const known = this.#repositories.with(folder, await nestedRepositories(folder));
    return known.slice(0, NESTED_REPOSITORIES);
  }

  /** What a command does not see, and what it sees all the same. */
  #seen(writable: readonly string[]) {
    const { data, env } = this.#options;
    const homes = [...new Set([this.#home, ...administratorsHome().map(real)])];
    const hidden = [real(data), ...administratorsOnly([...homes, ...writable])];
    return {
      hidden: homes.flatMap((home) =>
        hiddenPaths(home, [...hidden, ...hiddenByClass(home, env["PATH"], writable)]),
      ),
      readable: homes.flatMap(seenLinks),
    };
  }

  get #empty(): string {
    return join(this.#options.data, "empty");
  }

  get #home(): string {
    return real(this.#options.env["HOME"] || homedir());
  }

  #hasNetwork(asked: boolean | undefined): boolean {
    return asked ?? this.#options.mode === "network";
  }

  /** What confines here, or why nothing does; tried once. */
  #find(): Promise<Tool | string> {
    this.#found ??= this.#try();
    return this.#found;
  }

  async #try(): Promise<Tool | string> {
    const { root, env } = this.#options;
    const isSeatbelt = process.platform === "darwin";
    if (!isSeatbelt && process.platform !== "linux") return `not supported on ${process.platform}`;
    const name = isSeatbelt ? "sandbox-exec" : "bwrap";
    const file = findCommand(name, env["PATH"], root);
    if (file === undefined)
      return isSeatbelt ? `${name} was not found` : "bubblewrap is not installed (apt install bubblewrap)";
    const tool = { file, isSeatbelt };
    const spec = {
      file: "/bin/sh",
      args: ["-c", ":"],
      cwd: real(root),
      env: childEnvironment("helper", env),
    };
    const { cwd } = spec;
    writeFileSync(this.#empty, "", { flag: "a", mode: 0o600 });
    const trial = wrap(tool, spec, {
      ...{ ...(await this.#common([cwd], cwd)), ...this.#seen([cwd]), sockets: [], network: false },
    });
    return new Promise((found) => {
      const options = { env: trial.env as NodeJS.ProcessEnv, timeout: SANDBOX_TRY_MS };
      execFile(trial.file, [...trial.args], options, (error, _, stderr) => {
        const why = stderr.trim().split("\n").at(-1) || error?.message;
        found(error ? `the system does not allow it (${why})` : tool);
      });
    });
  }
}

function wrap({ file, isSeatbelt }: Tool, spec: ChildSpec, confinement: Confinement): ChildSpec {
  const first = isSeatbelt ? ["-p", seatbeltProfile(confinement)] : bubblewrapArgs(confinement);
  const args = [...first, spec.file, ...spec.args];
  const bytes = args.reduce((sum, arg) => sum + Buffer.byteLength(arg) + 1, 0);
  const isTooLong = args.length > BUBBLEWRAP_ARGS || bytes > ARGUMENT_BYTES;
  // Never unconfined: instead of it, the reason is printed.
  if (isTooLong) return { ...spec, file: "/bin/sh", args: ["-c", SAY, "sh", TOO_MUCH] };
  return { ...spec, file, args, onGone: () => putBack(confinement.kept) };
}

const SAY = "printf '%s\\n' \"$1\" >&2; exit 126";
const TOO_MUCH =
  "Not run: the folder has more repositories and git settings than the sandbox can protect. " +
  "Serve a smaller folder, or remove some of them.";

/** Where links lead; of what is not there, the path itself. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
