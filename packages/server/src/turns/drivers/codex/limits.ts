/** Every bound of the Codex driver, in one place. */

export const limits = {
  /** How long the program may take to initialize, and to open a thread. */
  openMs: 60_000,
  /** How long it may take to answer any other request. An unanswered one must not block a turn. */
  answerMs: 20_000,
  /** How long the program has to end a stopped turn. */
  stopMs: 3_000,
  /** How long the agent's offers are cached. */
  offersMs: 5 * 60_000,
  /** How long the login state is cached. */
  loginMs: 20_000,
  /** Folders for which that is cached. */
  folders: 50,
  /** Messages that were sent and not read yet. */
  sentMessages: 100,
  /** Sub-agents whose turns are stopped with the turn. */
  children: 1_000,
  /** Tracked commands that the model waits for. */
  commands: 1_000,
} as const;

/** The first version whose app-server accepts messages during a turn. Older versions run as `codex exec`. */
export const FIRST_VERSION: readonly [number, number] = [0, 130];
