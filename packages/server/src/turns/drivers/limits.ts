/** Bounds of agents: of what they ask in a turn, and of those that live on between turns. */
export const bounds = {
  /** An agent that nobody has asked for anything for this long is ended. */
  idleMs: 5 * 60_000,
  /** … one that runs something in the background after this long. */
  busyMs: 60 * 60_000,
  /** So many live on at the same time, and so many that run something; the one that has waited longest is ended for the next. */
  idleAgents: 4,
  busyAgents: 4,
  /** How long an agent may take to stop when it is asked to, before it is made to. */
  interruptMs: 2_000,
  /** What an agent prints between two turns is kept for the next one, up to so many lines. */
  idleLines: 20_000,
  /** … and so many characters. The same for what it prints before its session or turn has begun. One that prints more is ended. */
  heldChars: 8 * 1024 * 1024,
  /** An answer to a request of ours is waited for so long. */
  answerMs: 15_000,
  /** How long it is remembered whether somebody is logged in. */
  loginMs: 20_000,
  /** So many choices of model and effort are remembered that an agent has taken. */
  acceptedModels: 100,
  /** Requests of ours that are open at the same time. */
  openRequests: 64,
  /** Requests of one turn that wait for a person at the same time; more are refused. */
  openAsks: 100,
  /** Names of a turn's requests that are over are remembered: none can be used again. */
  usedAsks: 1_000,
  /** Of a session's file so much is read to see whether another process has gone on with it. */
  sessionTailBytes: 1024 * 1024,
  /** Results that are held back for agents in the background. */
  heldResults: 100,
} as const;
