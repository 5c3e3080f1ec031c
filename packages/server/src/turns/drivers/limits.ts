/** Bounds of agents: of what they ask in a turn, and of those that live on between turns. */
export const bounds = {
  /** An idle agent is ended after this long. */
  idleMs: 5 * 60_000,
  /** … one with background tasks after this long. */
  busyMs: 60 * 60_000,
  /**
   * This many stay alive at the same time, and this many with tasks; the one that has waited longest is ended for the
   * next.
   */
  idleAgents: 4,
  busyAgents: 4,
  /** How long an agent may take to stop on request before it is killed. */
  interruptMs: 2_000,
  /** An agent's output between two turns is kept for the next one, up to this many lines. */
  idleLines: 20_000,
  /**
   * … and this many characters. The same for output before its session or turn has begun. An agent that prints more is
   * ended.
   */
  heldChars: 8 * 1024 * 1024,
  /** How long an answer to one of our requests is awaited. */
  answerMs: 15_000,
  /** How long the login state is cached. */
  loginMs: 20_000,
  /** Cached choices of model and effort that an agent has accepted. */
  acceptedModels: 100,
  /** Open requests of ours. */
  openRequests: 64,
  /** Open requests of one turn that wait for a person; more are refused. */
  openAsks: 100,
  /** Names of a turn's requests that are over are remembered: none can be used again. */
  usedAsks: 1_000,
  /** Of a session's file so much is read to see whether another process has gone on with it. */
  sessionTailBytes: 1024 * 1024,
  /** Results that are held back for agents in the background. */
  heldResults: 100,
} as const;
