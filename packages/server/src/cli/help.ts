/**
 * `blockyard help`: every command in a line, or one with its options and examples.
 */

import { type Command, EXIT } from "./command.ts";
import { oneLine, styleFor } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const EXIT_CODES = `Exit codes: ${EXIT.done} done, ${EXIT.failed} failed or denied, ${EXIT.usage} usage error, ${EXIT.nothing} nothing found, ${EXIT.interrupted} interrupted.`;

/** `near`: the command that may have been meant, where there is none of that name. */
export function help(commands: readonly Command[], name: string | undefined, near?: string): number {
  const one = commands.find((command) => command.name === name);
  if (name !== undefined && !one)
    process.stderr.write(
      `blockyard: unknown command ${oneLine(name, 40)}${near === undefined ? "" : `. Did you mean: ${asTyped(`blockyard help ${near}`)}?`}\n\n`,
    );
  process.stdout.write(asTyped(one ? describe(one) : overview(commands)));
  return name === undefined || one ? EXIT.done : EXIT.usage;
}

function overview(commands: readonly Command[]): string {
  const style = styleFor(process.stdout);
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => `  ${style.bold(name.padEnd(width))}  ${summary}`);
  return `Agents and people, working on the same blocks.

  blockyard [folder]     run the server for a folder and print the link to its page
  blockyard <command>    run one of these commands:

${rows.join("\n")}

blockyard help <command> shows its options and examples.
${EXIT_CODES}
`;
}

function describe({ usage, summary, options, examples }: Command): string {
  const style = styleFor(process.stdout);
  const rows = Object.entries(options ?? {}).map(
    ([option, { short, value, summary: what, choices = [] }]) => {
      const flag = `${short === undefined ? "    " : `-${short}, `}--${option}${value === undefined ? "" : ` ${value}`}`;
      const isNamed = choices.every((choice) => what.includes(choice));
      return [flag, isNamed ? what : `${what}; one of ${choices.join(", ")}`] as const;
    },
  );
  const width = Math.max(0, ...rows.map(([flag]) => flag.length));
  const table = rows.map(([flag, what]) => `  ${flag.padEnd(width)}  ${what}`).join("\n");
  const lines = examples.map((example) => `  ${example}`).join("\n");
  return `${style.bold(asTyped(`blockyard ${usage}`))}\n  ${summary}\n${table === "" ? "" : `\n${table}\n`}\n${style.bold("Examples")}\n${lines}\n\n${EXIT_CODES}\n`;
}
