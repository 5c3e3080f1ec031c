/** One command in a terminal of its own, as somebody has it who types: `script` gives it one. */
import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

const WAIT_MS = 120_000;
const WIDTH = 200;

interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

export class Terminal {
  readonly #exited: Promise<number>;
  readonly #process: ChildProcess;
  #said = "";
  /** How much of it was typed an answer to. */
  #read = 0;

  constructor(command: readonly string[], { cwd, env }: TerminalOptions) {
    const line = `stty cols ${WIDTH} rows 50; exec ${command.map(quoted).join(" ")}`;
    this.#process = spawn("script", ["--quiet", "--return", "--flush", "--command", line, "/dev/null"], {
      ...{ cwd, stdio: ["pipe", "pipe", "ignore"] },
      env: { ...env, SHELL: "/bin/sh", TERM: "xterm", NO_COLOR: "1" },
    });
    this.#process.stdout?.on("data", (data: Buffer) => {
      this.#said += data.toString();
    });
    this.#exited = new Promise((resolve) => this.#process.once("exit", (code) => resolve(code ?? 1)));
  }

  /** Waits for something to be shown behind what was answered last. */
  async shows(pattern: RegExp): Promise<RegExpExecArray> {
    for (const since = Date.now(); ; await sleep(50)) {
      const found = pattern.exec(plain(this.#said.slice(this.#read)));
      if (found) return found;
      const isOver = this.#process.exitCode !== null;
      if (isOver || Date.now() - since > WAIT_MS)
        throw new Error(`the terminal ${isOver ? "ended and" : ""} does not show ${pattern}: ${this.tail}`);
    }
  }

  /** Its exit code. */
  async ended(): Promise<number> {
    const late = sleep(WAIT_MS, undefined, { ref: false });
    const code = await Promise.race([this.#exited, late]);
    if (code === undefined) throw new Error(`the command does not end: ${this.tail}`);
    return code;
  }

  type(text: string): void {
    this.#read = this.#said.length;
    this.#process.stdin?.write(text);
  }

  /** Everything that was shown. */
  get text(): string {
    return plain(this.#said);
  }

  get tail(): string {
    return JSON.stringify(this.text.slice(-600));
  }

  /** Ends what still runs. */
  async close(): Promise<void> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) this.#process.kill("SIGKILL");
    await this.#exited;
  }
}

/** Without what moves the cursor. */
function plain(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences begin with one
  return text.replaceAll("\r\n", "\n").replace(/\u001b\[[0-9;?]*[A-Za-z]/g, "");
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}
