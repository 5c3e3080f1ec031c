/** Whether a command line may start agents or commands, known before anything large is loaded. */

/** Commands that start none. Any other word may be a folder to serve, the value of an option, `run`, or `attach`, whose answers can start a turn. */
export const QUIET_COMMANDS: readonly string[] = [
  ...[
    "ingest",
    "acp", // its agent is the editor's, and gets its environment from the editor
    "import",
    "ls",
    "show",
    "search",
    "export",
    "archive",
    "unarchive",
    "rename",
    "delete",
    "costs",
    "mcp",
    "token",
    "grant",
    "rules",
    "link",
    "session",
    "audit",
  ],
  ...["backup", "restore", "doctor", "bench", "demo", "completion", "help"],
];

export function startsAgents(args: readonly string[]): boolean {
  const isAbout = args.some((arg) => ["--help", "-h", "--version", "-v"].includes(arg));
  return !isAbout && !QUIET_COMMANDS.includes(args[0] ?? "");
}
