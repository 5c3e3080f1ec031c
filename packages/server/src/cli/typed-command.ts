/**
 * Hints as they can be typed here. Whoever works from a clone has no command `blockyard`: there `npm start` runs it.
 */

type Variables = Readonly<Record<string, string | undefined>>;

/** The command with arguments, or alone; not in a path, nor in front of a colon. */
const NAMED = /(?<![\w./~-])blockyard(?: (?=[a-z~<[-])|(?=$|[\n,)]))/g;

/** A text of ours, never of others: words in it that look like the command are taken for it. */
export function asTyped(text: string, env: Variables = process.env): string {
  if (env["npm_lifecycle_event"] !== "start" || env["npm_package_name"] !== "blockyard") return text;
  return text.replace(NAMED, (command) => (command.endsWith(" ") ? "npm start -s -- " : "npm start"));
}
