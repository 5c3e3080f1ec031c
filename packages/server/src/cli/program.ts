/**
 * The `blockyard` command. Each command is a file beside this one, which only finds it and turns what goes wrong into one
 * sentence with its fix.
 */

import { existsSync } from "node:fs";
import { VERSION } from "../system/version.ts";
import { acp } from "./acp.ts";
import { audit } from "./audit.ts";
import { backup, restore } from "./backup.ts";
import { bench } from "./bench.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { completion } from "./completion.ts";
import { costs } from "./costs.ts";
import { deleteCommand } from "./delete.ts";
import { demo } from "./demo.ts";
import { doctor } from "./doctor.ts";
import { exportCommand } from "./export.ts";
import { isUsage, sentenceOf } from "./failure.ts";
import { grant } from "./grant.ts";
import { help } from "./help.ts";
import { importCommand } from "./import.ts";
import { ingest } from "./ingest.ts";
import { link } from "./link.ts";
import { ls } from "./ls.ts";
import { mcp } from "./mcp.ts";
import { nearest } from "./nearest.ts";
import { run } from "./run.ts";
import { search } from "./search.ts";
import { serveCommand } from "./serve.ts";
import { session } from "./session.ts";
import { show } from "./show.ts";
import { printNote } from "./terminal.ts";
import { token } from "./token.ts";

export const COMMANDS: readonly Command[] = [
  ...[serveCommand, run, ingest, acp, importCommand, ls, show, search, exportCommand, costs, deleteCommand],
  ...[
    mcp,
    token,
    grant,
    link,
    session,
    audit,
    backup,
    restore,
    doctor,
    bench,
    demo,
    completion(() => COMMANDS),
  ],
];

const NAMES = COMMANDS.map(({ name }) => name);

async function chosen(given: readonly string[]): Promise<number> {
  const args = commandFirst(given);
  const [first, ...rest] = args;
  if (first === "help" || first === "--help" || first === "-h")
    return help(COMMANDS, rest[0], nearest(rest[0] ?? "", NAMES));
  if (first === "--version" || first === "-v") {
    process.stdout.write(`${VERSION}\n`);
    return EXIT.done;
  }
  const named = COMMANDS.find(({ name }) => name === first);
  if (isHelp(named ? rest : args)) return help(COMMANDS, (named ?? serveCommand).name);
  if (!named && first !== undefined) requireFolder(first);
  return named ? named.run(rest) : serveCommand.run(args);
}

/** Options may stand before the command too: `--home data ls` is `ls --home data`. A folder of that name is a folder. */
function commandFirst(args: readonly string[]): readonly string[] {
  if (!args[0]?.startsWith("-")) return args;
  const takesValue = new Set(
    Object.entries(serveCommand.options ?? {}).flatMap(([name, { type }]) =>
      type === "string" ? [`--${name}`] : [],
    ),
  );
  const at = args.findIndex((word, i) => !word.startsWith("-") && !takesValue.has(args[i - 1] ?? ""));
  const word = args[at];
  const isCommand = COMMANDS.some(({ name }) => name === word) && !existsSync(word as string);
  return isCommand ? [word as string, ...args.slice(0, at), ...args.slice(at + 1)] : args;
}

function isHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  const options = end === -1 ? args : args.slice(0, end);
  return options.includes("--help") || options.includes("-h");
}

/** The first word is a command or a folder to serve; anything else is a command that was mistyped. */
function requireFolder(word: string): void {
  if (word.startsWith("-") || existsSync(word) || /[/\\.~]/.test(word)) return;
  const near = nearest(word, NAMES);
  const meant = near === undefined ? "" : ` Did you mean: blockyard ${near}?`;
  throw new CommandError(`no command or folder is called ${word}.${meant}\nTry: blockyard help`, EXIT.usage);
}

/** Runs the command that the arguments name; its exit code. What goes wrong is told on standard error. */
export async function program(args: readonly string[]): Promise<number> {
  // Who reads the output may stop reading (`| head`): that is no failure. A full disk is.
  for (const output of [process.stdout, process.stderr]) {
    output.on("error", ({ code }: NodeJS.ErrnoException) => {
      if (code === "EPIPE") return;
      if (output === process.stdout) printNote(`blockyard: cannot write the output (${code})`);
      process.exit(EXIT.failed);
    });
  }
  try {
    return await chosen(args);
  } catch (error) {
    printNote(`blockyard: ${sentenceOf(error)}`);
    if (error instanceof CommandError) return error.code;
    return isUsage(error) ? EXIT.usage : EXIT.failed;
  }
}
