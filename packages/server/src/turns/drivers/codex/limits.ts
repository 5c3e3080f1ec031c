/**
 * Every bound of the Codex driver, in one place.
 */

export const limits = {
  /** How long the program may take to say that it is there, and to open a thread. */
  openMs: 60_000,
  /** How long it may take to answer any other request. One that is never answered must not hold a turn. */
  answerMs: 20_000,
  /** How long the program has to end a turn that was stopped. */
  stopMs: 3_000,
  /** How long what the agent offers is remembered. */
  offersMs: 5 * 60_000,
  /** How long it is remembered whether somebody is logged in. */
  loginMs: 20_000,
  /** Folders of which that is remembered. */
  folders: 50,
  /** Messages that were sent and not read yet. */
  sentMessages: 100,
  /** Sub-agents whose turns are stopped with the turn. */
  children: 1_000,
  /** Commands of which it is known that the model waits for them. */
  commands: 1_000,
} as const;

/** The first version whose app-server can be steered. What is older runs as `codex exec`. */
export const FIRST_VERSION: readonly [number, number] = [0, 130];
