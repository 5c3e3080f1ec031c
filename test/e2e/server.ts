/**
 * The real server as a process of its own, started as `npm start` would: with an environment built from nothing, a data
 * directory of its own and a free port. Tests talk to it as clients do.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serverFlags } from "../../scripts/setup.mjs";

const MAIN = fileURLToPath(new URL("../../packages/server/src/main.ts", import.meta.url));

const CACHE = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));

/** What Node makes of the sources, from the first file on, is kept for all that are started: most of a start. */
export const CACHED = { XDG_CACHE_HOME: CACHE, NODE_COMPILE_CACHE: join(CACHE, "blockyard") };

export interface ServerOptions {
  readonly home: string;
  /** The workspace. */
  readonly root: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A free one, if nothing else is asked for. */
  readonly port?: string;
}

export interface Called {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: what a tool answers is looked at field by field
  readonly body: any;
}

/** The folders of the programs that a bare environment can find: ours, and the system's. */
export const BARE_PATH = [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter);

export class Server {
  readonly #process: ChildProcess;
  readonly #errors: string[];
  readonly url: string;
  readonly token: string;

  private constructor(process: ChildProcess, errors: string[], url: string, token: string) {
    this.#process = process;
    this.#errors = errors;
    this.url = url;
    this.token = token;
  }

  static async start({ home, root, env, port = "0" }: ServerOptions): Promise<Server> {
    const child = spawn(
      process.execPath,
      [...serverFlags, MAIN, "serve", root, "--home", home, "--port", port],
      {
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH: BARE_PATH, HOME: home, ...CACHED, ...profiled(), ...env },
      },
    );
    const errors: string[] = [];
    child.stderr?.on("data", (data: Buffer) => errors.push(data.toString()));
    let said = "";
    await new Promise<void>((resolve, reject) => {
      child.stdout?.on("data", (data: Buffer) => {
        said += data.toString();
        if (said.includes("Ctrl-C to stop")) resolve();
      });
      child.on("exit", (code) => reject(new Error(`the server ended with ${code}: ${errors.join("")}`)));
    });
    const { url } = JSON.parse(readFileSync(join(home, "server.json"), "utf8")) as { url: string };
    return new Server(child, errors, url, readFileSync(join(home, "token"), "utf8").trim());
  }

  get pid(): number {
    return this.#process.pid as number;
  }

  get log(): string {
    return this.#errors.join("");
  }

  async call(tool: string, input: unknown, token = this.token): Promise<Called> {
    const response = await fetch(`${this.url}/v1/tools/${tool}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(input),
    });
    return { status: response.status, body: await response.json() };
  }

  /** Calls that must succeed. */
  // biome-ignore lint/suspicious/noExplicitAny: see Called
  async do(tool: string, input: unknown): Promise<any> {
    const { status, body } = await this.call(tool, input);
    if (status !== 200) throw new Error(`${tool}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Every block of a conversation with its metadata and its text, oldest first. */
  // biome-ignore lint/suspicious/noExplicitAny: see Called
  async blocks(conversation: string): Promise<any[]> {
    const { blocks } = await this.do("conversation.read", { conversation });
    return Promise.all(
      (blocks as { block_id: string }[]).map(({ block_id }) =>
        this.do("block.read", { block_id, line_numbers: false }),
      ),
    );
  }

  kill(): Promise<void> {
    return this.#end("SIGKILL");
  }

  stop(): Promise<void> {
    return this.#end("SIGTERM");
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => this.#process.once("exit", () => resolve()));
    this.#process.kill(signal);
    await ended;
  }
}

/** Who profiles a bench wants the server's profile too: the one thing that it takes over from this process. */
function profiled(): Readonly<Record<string, string>> {
  const given = process.env["NODE_OPTIONS"] ?? "";
  return given.includes("--cpu-prof") ? { NODE_OPTIONS: given } : {};
}
