/** A command's arguments, read by its own table of options. What does not fit is answered with the command to look it up. */

import { parseArgs } from "node:util";
import { type Command, CommandError, type CommandOption, EXIT } from "./command.ts";
import { nearest } from "./nearest.ts";

export const HOME_OPTION = {
  type: "string",
  value: "DIR",
  summary: "the data directory, with database and tokens (default: ~/.blockyard)",
} as const satisfies CommandOption;

export const DATABASE_OPTION = {
  type: "string",
  value: "URL",
  summary: "use a PostgreSQL database instead of SQLite; prefer BLOCKYARD_DATABASE, which hides the password",
} as const satisfies CommandOption;

export const JSON_OPTION = {
  type: "boolean",
  summary: "print one JSON value per line",
} as const satisfies CommandOption;

type Values<O> = {
  readonly [K in keyof O]?: O[K] extends { readonly multiple: true }
    ? readonly string[]
    : O[K] extends { readonly type: "boolean" }
      ? boolean
      : string;
};

interface Arguments<O> {
  readonly values: Values<O>;
  readonly positionals: readonly string[];
}

/** How many arguments it takes besides its options, and a description of them. */
export function readArguments<const O extends Readonly<Record<string, CommandOption>>>(
  { name, options }: Pick<Command, "name"> & { readonly options: O },
  args: readonly string[],
  [least, most, needs]: readonly [least: number, most: number, needs?: string],
): Arguments<O> {
  const wrong = (message: string) => new CommandError(`${message}\nTry: blockyard help ${name}`, EXIT.usage);
  const table = Object.fromEntries(
    Object.entries(options).map(([option, { type, short, multiple }]) => [
      option,
      { type, ...(short === undefined ? {} : { short }), ...(multiple ? { multiple } : {}) },
    ]),
  );
  let read: ReturnType<typeof parseArgs>;
  try {
    read = parseArgs({ args: [...args], allowPositionals: true, options: table });
  } catch (error) {
    const { message } = error as Error;
    const [, bare, how] = /^Option '(-[^' ,]+).*' argument (missing|is ambiguous)/.exec(message) ?? [];
    const dashed =
      how === "missing" || !bare?.startsWith("--") ? "" : `. One that begins with a dash: ${bare}=-VALUE`;
    if (bare !== undefined) throw wrong(`${bare} needs a value${dashed}`);
    const mistyped = /^Unknown option '--([^']+)'/.exec(message)?.[1];
    const near = mistyped === undefined ? undefined : nearest(mistyped, Object.keys(options));
    throw wrong(`${firstSentence(message)}${near === undefined ? "" : `. Did you mean: --${near}?`}`);
  }
  const { values, positionals } = read;
  for (const [option, value] of Object.entries(values)) {
    const { choices } = options[option] as CommandOption;
    for (const each of Array.isArray(value) ? value : [value]) {
      if (choices && !choices.includes(String(each)))
        throw wrong(`--${option} must be one of ${choices.join(", ")}, not ${String(each)}`);
    }
  }
  if (positionals.length < least) throw wrong(`${name} needs ${needs ?? "more arguments"}`);
  if (positionals.length > most) {
    const extra = String(positionals[most]);
    throw wrong(`unexpected argument ${extra}. Words that belong together need quotes`);
  }
  return { values: values as Values<O>, positionals };
}

/** Node's messages continue with advice about quoting dashes. */
function firstSentence(message: string): string {
  return message.split(/\. |\n/, 1)[0] ?? message;
}
