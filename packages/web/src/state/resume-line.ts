/**
 * The command that resumes an agent's session in a terminal, in the folder where it works. Undefined for agents that
 * have none.
 */
const RESUMED_BY: Readonly<Record<string, readonly string[]>> = {
  claude: ["claude", "--resume"],
  codex: ["codex", "resume"],
  opencode: ["opencode", "--session"],
};

/** As agents name their sessions. Whoever writes a stream or an export names one as it likes: an option would be obeyed. */
const SESSION = /^[A-Za-z0-9][\w.:@+=-]{0,199}$/;
/** A terminal may obey what a folder's name holds before a shell has seen its quotes. */
const FOLDER = /^\/\P{C}*$/u;

export function resumeLine(
  provider: string,
  session: string,
  folder: string | undefined,
): string | undefined {
  const command = RESUMED_BY[provider];
  if (command === undefined || !SESSION.test(session)) return undefined;
  if (folder !== undefined && !FOLDER.test(folder)) return undefined;
  const resume = [...command, session].join(" ");
  return folder === undefined ? resume : `cd ${quoted(folder)} && ${resume}`;
}

/** As a shell reads it back, whatever it holds. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
