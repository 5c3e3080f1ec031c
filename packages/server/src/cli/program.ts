/**
 * The `blockyard` command. Each command is a file beside this one, which only finds it and turns what goes wrong into one
 * sentence with its fix.
 */

import { existsSync } from "node:fs";
import { VERSION } from "../system/version.ts";
import { type Command, CommandError, EXIT } from "./command.ts";
import { help } from "./help.ts";
import { nearest } from "./nearest.ts";
import { printNote } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

/** Only the command that runs is loaded: most need little of the server. In the order of help. */
const COMMANDS: Readonly<Record<string, () => Promise<Command>>> = {
  serve: async () => (await import("./serve.ts")).serveCommand,
  run: async () => (await import("./run.ts")).run,
  attach: async () => (await import("./attach.ts")).attach,
  ingest: async () => (await import("./ingest.ts")).ingest,
  acp: async () => (await import("./acp.ts")).acp,
  import: async () => (await import("./import.ts")).importCommand,
  ls: async () => (await import("./ls.ts")).ls,
  show: async () => (await import("./show.ts")).show,
  search: async () => (await import("./search.ts")).search,
  export: async () => (await import("./export.ts")).exportCommand,
  costs: async () => (await import("./costs.ts")).costs,
  rename: async () => (await import("./archive.ts")).rename,
  archive: async () => (await import("./archive.ts")).archive,
  unarchive: async () => (await import("./archive.ts")).unarchive,
  delete: async () => (await import("./delete.ts")).deleteCommand,
  mcp: async () => (await import("./mcp.ts")).mcp,
  token: async () => (await import("./token.ts")).token,
  grant: async () => (await import("./grant.ts")).grant,
  rules: async () => (await import("./rules.ts")).rules,
  link: async () => (await import("./link.ts")).link,
  session: async () => (await import("./session.ts")).session,
  audit: async () => (await import("./audit.ts")).audit,
  backup: async () => (await import("./backup.ts")).backup,
  restore: async () => (await import("./backup.ts")).restore,
  doctor: async () => (await import("./doctor.ts")).doctor,
  bench: async () => (await import("./bench.ts")).bench,
  demo: async () => (await import("./demo.ts")).demo,
  completion: async () => (await import("./completion.ts")).completion(allCommands),
};

export const COMMAND_NAMES: readonly string[] = Object.keys(COMMANDS);

export function allCommands(): Promise<readonly Command[]> {
  return Promise.all(Object.values(COMMANDS).map((load) => load()));
}

function loaderOf(name: string | undefined): (() => Promise<Command>) | undefined {
  return name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

async function chosen(given: readonly string[]): Promise<number> {
  const args = await commandFirst(given);
  const [first, ...rest] = args;
  if (first === "help" || first === "--help" || first === "-h") return helpFor(rest[0]);
  if (first === "--version" || first === "-v") {
    process.stdout.write(`${VERSION}\n`);
    return EXIT.done;
  }
  const named = loaderOf(first);
  if (isHelp(named ? rest : args)) return helpFor(named ? first : "serve");
  if (!named && first !== undefined) requireFolder(first);
  return named ? (await named()).run(rest) : (await loadServe()).run(args);
}

const loadServe = COMMANDS["serve"] as () => Promise<Command>;

async function helpFor(name: string | undefined): Promise<number> {
  const one = loaderOf(name);
  return help(one ? [await one()] : await allCommands(), name, nearest(name ?? "", COMMAND_NAMES));
}

/** Options may precede the command: `--home data ls` is `ls --home data`. A folder of that name is a folder. */
async function commandFirst(args: readonly string[]): Promise<readonly string[]> {
  if (!args[0]?.startsWith("-") || args.length === 1) return args;
  const takesValue = new Set(
    Object.entries((await loadServe()).options ?? {}).flatMap(([name, { type }]) =>
      type === "string" ? [`--${name}`] : [],
    ),
  );
  const at = args.findIndex((word, i) => !word.startsWith("-") && !takesValue.has(args[i - 1] ?? ""));
  const word = args[at];
  const isCommand = loaderOf(word) !== undefined && !existsSync(word as string);
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
  const near = nearest(word, ["--version", "help", ...COMMAND_NAMES]);
  const meant = near === undefined ? "" : ` Did you mean: blockyard ${near}?`;
  throw new CommandError(`no command or folder is called ${word}.${meant}\nTry: blockyard help`, EXIT.usage);
}

/** Runs the command that the arguments name; returns its exit code. Errors go to standard error. */
export async function program(args: readonly string[]): Promise<number> {
  // A reader may stop reading (`| head`): that is no failure. A full disk is.
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
    if (error instanceof CommandError) {
      printNote(asTyped(`blockyard: ${error.message}`));
      return error.code;
    }
    // Every other failure needs much of the program, which a mistyped option does not wait for.
    const { exitOf, sentenceOf } = await import("./failure.ts");
    printNote(asTyped(`blockyard: ${sentenceOf(error)}`));
    return exitOf(error);
  }
}
