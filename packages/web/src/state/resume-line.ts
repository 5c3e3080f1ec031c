/**
 * The command that goes on with an agent's session in a terminal, in the folder where it works. Undefined for agents that have none.
 */
const RESUMED_BY: Readonly<Record<string, readonly string[]>> = {
  claude: ["claude", "--resume"],
  codex: ["codex", "resume"],
  opencode: ["opencode", "--session"],
};

export function resumeLine(
  provider: string,
  session: string,
  folder: string | undefined,
): string | undefined {
  const command = RESUMED_BY[provider];
  if (command === undefined || session === "") return undefined;
  const resume = [...command, quoted(session)].join(" ");
  return folder === undefined ? resume : `cd ${quoted(folder)} && ${resume}`;
}

/** As a shell reads it back, whatever it holds. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
