/**
 * `blockyard help`: every command in a line, or one with its examples.
 */

import type { Command } from "./command.ts";

export function help(commands: readonly Command[], name: string | undefined): number {
  const one = commands.find((command) => command.name === name);
  process.stdout.write(one ? describe(one) : overview(commands));
  return name === undefined || one ? 0 : 2;
}

function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ usage }) => usage.length));
  const rows = commands.map(({ usage, summary }) => `  ${usage.padEnd(width)}  ${summary}`);
  return `Agents and people, working on the same blocks.\n\n${rows.join("\n")}\n\nblockyard help <command> shows examples.\n`;
}

function describe({ usage, summary, examples }: Command): string {
  return `${usage}\n  ${summary}\n\n${examples.map((example) => `  ${example}`).join("\n")}\n`;
}
