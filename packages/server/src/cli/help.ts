/** `blockyard help`: every command in a line, or one with its options and examples. */

import { type Command, EXIT } from "./command.ts";
import { BESIDE_CHARS } from "./limits.ts";
import { lineWidth, oneLine, styleFor, wrapped } from "./terminal.ts";
import { asTyped } from "./typed-command.ts";

const EXIT_CODES = `Exit codes: ${EXIT.done} done, ${EXIT.failed} failed or denied, ${EXIT.usage} usage error, ${EXIT.nothing} nothing found, ${EXIT.interrupted} interrupted.`;

/** `near`: the command that may have been meant, if there is none of that name. */
export function help(commands: readonly Command[], name: string | undefined, near?: string): number {
  const one = commands.find((command) => command.name === name);
  if (name !== undefined && !one)
    process.stderr.write(
      `blockyard: unknown command ${oneLine(name, 40)}${near === undefined ? "" : `. Did you mean: ${asTyped(`blockyard help ${near}`)}?`}\n\n`,
    );
  process.stdout.write(helpText(commands, one, lineWidth()));
  return name === undefined || one ? EXIT.done : EXIT.usage;
}

/** Help on one command, or on all, in lines of this width. */
export function helpText(commands: readonly Command[], one: Command | undefined, width: number): string {
  return asTyped(one ? describe(one, width) : overview(commands, width));
}

function overview(commands: readonly Command[], room: number): string {
  const style = styleFor(process.stdout);
  const width = Math.max(...commands.map(({ name }) => name.length));
  const rows = commands.map(({ name, summary }) => row([name, summary], width, room, style.bold));
  const ways = [
    ["blockyard [folder]", "run the server for a folder and print the link to its page"],
    ["blockyard <command>", "run one of these commands:"],
  ].map(([way = "", what = ""]) => [asTyped(way), what] as const);
  const wayChars = Math.max(...ways.map(([way]) => way.length));
  return `Agents and people, working on the same blocks.

${ways.map((way) => row(way, wayChars, room)).join("\n")}

${rows.join("\n")}

blockyard help <command> shows its options and examples.
${wrapped(EXIT_CODES, room)}
`;
}

/**
 * A name and its description; text that does not fit continues below itself, or below the name if little room is left
 * beside it.
 */
function row(
  [name, what]: readonly [string, string],
  chars: number,
  width: number,
  paint = (text: string) => text,
): string {
  const hang = chars + 4;
  const isBeside = width - hang >= Math.min(BESIDE_CHARS, what.length);
  if (!isBeside) return `  ${paint(name)}\n${wrapped(`      ${what}`, width, 6)}`;
  return `  ${paint(name.padEnd(chars))}${wrapped(`${" ".repeat(hang)}${what}`, width, hang).slice(hang - 2)}`;
}

function describe({ usage, summary, options, examples, choices = [] }: Command, room: number): string {
  const style = styleFor(process.stdout);
  const rows = Object.entries(options ?? {}).map(
    ([option, { short, value, summary: what, choices = [] }]) => {
      const flag = `${short === undefined ? "    " : `-${short}, `}--${option}${value === undefined ? "" : ` ${value}`}`;
      const isNamed = choices.every((choice) => what.includes(choice));
      return [flag, isNamed ? what : `${what}; one of ${choices.join(", ")}`] as const;
    },
  );
  const argument = /<(\w+)>/.exec(usage)?.[0];
  if (argument !== undefined && !choices.every((choice) => usage.includes(choice)))
    rows.unshift([argument, `one of ${choices.join(", ")}`]);
  const width = Math.max(0, ...rows.map(([flag]) => flag.length));
  const table = rows.map((each) => row(each, width, room)).join("\n");
  const lines = examples.map((example) => exampleText(example, room)).join("\n");
  // An option stays beside its value.
  const whole = asTyped(`blockyard ${usage}`).replace(/\[[^\]]*\]/g, (option) =>
    option.replaceAll(" ", "\u00a0"),
  );
  const head = style.bold(wrapped(whole, room, 4).replaceAll("\u00a0", " "));
  return `${head}\n${wrapped(`  ${summary}`, room, 2)}\n${table === "" ? "" : `\n${table}\n`}\n${style.bold("Examples")}\n${lines}\n\n${wrapped(EXIT_CODES, room)}\n`;
}

/** A comment that does not fit beside its example goes above it, so that the example can be copied. */
function exampleText(example: string, width: number): string {
  const line = `  ${asTyped(example)}`;
  const comment = / +(# .*)$/.exec(line);
  if (comment === null || line.length <= width) return line;
  return `  ${comment[1]}\n${line.slice(0, comment.index)}`;
}
