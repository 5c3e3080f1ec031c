/**
 * A command's arguments, read by its own table of options. What does not fit is answered with the command to look it up.
 */

import { parseArgs } from "node:util";
import { type Command, CommandError, type CommandOption, EXIT } from "./command.ts";
import { nearest } from "./nearest.ts";

export const HOME_OPTION = {
  type: "string",
  value: "DIR",
  summary: "where the database and the tokens are (default: ~/.blockyard)",
} as const satisfies CommandOption;

export const DATABASE_OPTION = {
  type: "string",
  value: "URL",
  summary: "a PostgreSQL database instead of the file in the home; better given as BLOCKYARD_DATABASE",
} as const satisfies CommandOption;

export const JSON_OPTION = {
  type: "boolean",
  summary: "print JSON, one value per line, for programs",
} as const satisfies CommandOption;

type Values<O> = {
  readonly [K in keyof O]?: O[K] extends { readonly multiple: true }
    ? readonly string[]
    : O[K] extends { readonly type: "boolean" }
      ? boolean
      : string;
};

export interface Arguments<O> {
  readonly values: Values<O>;
  readonly positionals: readonly string[];
}

/** `count`: how many arguments it takes beside its options, at least and at most. */
export function readArguments<const O extends Readonly<Record<string, CommandOption>>>(
  { name, options }: Pick<Command, "name"> & { readonly options: O },
  args: readonly string[],
  [least, most]: readonly [number, number],
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
    const mistyped = /^Unknown option '--([^']+)'/.exec(message)?.[1];
    const near = mistyped === undefined ? undefined : nearest(mistyped, Object.keys(options));
    throw wrong(`${firstSentence(message)}${near === undefined ? "" : `. Did you mean: --${near}?`}`);
  }
  const { values, positionals } = read;
  for (const [option, value] of Object.entries(values)) {
    const { choices } = options[option] as CommandOption;
    for (const each of Array.isArray(value) ? value : [value]) {
      if (choices && !choices.includes(String(each)))
        throw wrong(`--${option} takes ${choices.join(", ")}, not ${String(each)}`);
    }
  }
  if (positionals.length < least || positionals.length > most) {
    const wanted = least === most ? String(least) : `${least} to ${most}`;
    throw wrong(`${name} takes ${wanted} argument${wanted === "1" ? "" : "s"}, not ${positionals.length}`);
  }
  return { values: values as Values<O>, positionals };
}

/** Node's messages go on with advice about how to quote dashes. */
function firstSentence(message: string): string {
  return message.split(/\. |\n/, 1)[0] ?? message;
}
