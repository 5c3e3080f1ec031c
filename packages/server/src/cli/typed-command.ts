/**
 * Hints as they can be typed here. Whoever works from a clone has no command `blockyard`: there `npm start` runs it. Whoever named a data
 * directory has to name it again.
 */

type Variables = Readonly<Record<string, string | undefined>>;

/** The command with arguments, or alone; not in a path, nor in front of a colon. */
const NAMED = /(?<![\w./~-])blockyard(?: (?=[a-z~<[-])|(?=$|[\n,)]))/g;
/** The same with the name of what it does, which options follow. */
const WITH_NAME = /(?<![\w./~-])blockyard(?: [a-z]+(?![\w:./-])| (?=[~<[-])|(?=$|[\n,)]))/g;
/** What works with no data directory. */
const HOMELESS = /^blockyard (help|completion)$/;
const HAS_HOME = /^[^\n]* --home [^\s.]/;

/** A text of ours, never of others: words in it that look like the command are taken for it. */
export function asTyped(
  text: string,
  env: Variables = process.env,
  args: readonly string[] = process.argv.slice(2),
): string {
  const home = homeIn(args);
  const whole = home === undefined ? text : withHome(text, home);
  if (env["npm_lifecycle_event"] !== "start" || env["npm_package_name"] !== "blockyard") return whole;
  return whole.replace(NAMED, (command) => (command.endsWith(" ") ? "npm start -s -- " : "npm start"));
}

/** The data directory that was named, as a shell reads it. */
function homeIn(args: readonly string[]): string | undefined {
  const end = args.indexOf("--");
  const own = end === -1 ? args : args.slice(0, end);
  const at = own.indexOf("--home");
  const home = at === -1 ? own.find((each) => each.startsWith("--home="))?.slice(7) : own[at + 1];
  if (home === undefined || home === "" || /[^ -~]/.test(home)) return undefined;
  return /^[\w./~-]+$/.test(home) ? home : `'${home.replaceAll("'", "'\\''")}'`;
}

function withHome(text: string, home: string): string {
  return text.replace(WITH_NAME, (command: string, at: number) => {
    const rest = text.slice(at + command.length);
    if (HOMELESS.test(command) || HAS_HOME.test(rest)) return command;
    return command.endsWith(" ") ? `${command}--home ${home} ` : `${command} --home ${home}`;
  });
}
