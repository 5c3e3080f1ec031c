/**
 * The text in docs/benchmarks.md of benches without a result here: it was measured elsewhere, or earlier, and stays
 * unchanged until it is measured again.
 */

export interface KeptBench {
  readonly name: string;
  /** Its line in the table of promises. */
  readonly row: string;
  readonly section: string;
  /** The table of the machine it was measured on. */
  readonly machine: string;
  /** Other programs for each core. */
  readonly busyCores: number;
}

/** The benches of a page, in its order. */
export function keptBenches(page: string): readonly KeptBench[] {
  const sections = page.split(/^(?=## )/m);
  const named = (name: string) => sections.find((section) => section.startsWith(`## ${name}\n`));
  const machines = machinesIn(named("The machine") ?? "");
  return [...(named("Promises") ?? "").matchAll(/^\| \[([a-z]+)\]\(#\1\) .*$/gm)].flatMap(
    ([row, name = ""]) => {
      const section = named(name);
      const machine = machines.find(({ names }) => names.length === 0 || names.includes(name));
      if (section === undefined) return [];
      return [{ name, row, section, machine: machine?.table ?? "", busyCores: busyCoresIn(section) }];
    },
  );
}

function busyCoresIn(section: string): number {
  const [, programs = "0", cores = "1"] = /([\d.,]+) other programs ran on (\d+) cores/.exec(section) ?? [];
  return Number(programs.replaceAll(",", "")) / Number(cores);
}

/** With the names of those that were measured on it; none: all were. */
function machinesIn(section: string): readonly { names: readonly string[]; table: string }[] {
  return [...section.matchAll(/(?:^([a-z, ]+):\n\n)?^(\| \| \|\n\|---\|---\|\n(?:\|.*\n)+)/gm)].map(
    ([, names, table = ""]) => ({ names: names?.split(", ") ?? [], table }),
  );
}
