/** What a command is, and how it fails: with one sentence that names the fix, and an exit code that scripts can rely on. */

export interface CommandOption {
  readonly type: "string" | "boolean";
  readonly short?: string;
  readonly multiple?: boolean;
  /** Its purpose, for help and completion. */
  readonly summary: string;
  /** What its value is called in help. */
  readonly value?: string;
  /** The values that it takes, where they are few. */
  readonly choices?: readonly string[];
}

export interface Command {
  readonly name: string;
  readonly usage: string;
  readonly summary: string;
  readonly examples: readonly string[];
  readonly options?: Readonly<Record<string, CommandOption>>;
  /** What its arguments may be, where they are few. */
  readonly choices?: readonly string[];
  /** The exit code. */
  run(args: readonly string[]): Promise<number>;
}

/** The exit codes of every command, as the help shows them. */
export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  /** Nothing was found: no match, no such conversation. */
  nothing: 3,
  interrupted: 130,
} as const;

export class CommandError extends Error {
  override name = "CommandError";
  readonly code: number;

  constructor(message: string, code: number = EXIT.failed) {
    super(message);
    this.code = code;
  }
}
