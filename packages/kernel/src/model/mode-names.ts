/** What the modes of an agent are called, in its menu and among a session's facts. */

export const MODE_NAMES = {
  plan: "Plan",
  ask: "Ask",
  edits: "Accept edits",
  full: "Full access",
} as const;

/** What agents call them. A mode that only an agent knows, such as a policy of Codex, keeps its own name. */
const NATIVE_NAMES: ReadonlyMap<string, string> = new Map([
  ["plan", MODE_NAMES.plan],
  ["default", MODE_NAMES.ask],
  ["acceptEdits", MODE_NAMES.edits],
  ["bypassPermissions", MODE_NAMES.full],
  ["dontAsk", "Don't ask"],
]);

export function modeName(native: string): string {
  return NATIVE_NAMES.get(native) ?? native;
}
