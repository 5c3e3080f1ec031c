/** Bounds of agents that speak ACP. */

// Connection
/** How long the answer to `initialize` and to a new session may take; agents load for seconds. */
export const HELLO_MS = 120_000;
/** Agents list their commands by themselves, shortly after the session exists. */
export const COMMANDS_MS = 2_000;

// Driver
/** How long a process waits for the next turn, and how many may. */
export const IDLE_MS = 5 * 60_000;
export const IDLE_PROCESSES = 3;

// Peer
/** Open requests of the agent; more are refused. */
export const OPEN_REQUESTS = 1_000;
/** Of the name of a method that nobody knows, in its refusal. */
export const METHOD_CHARS = 100;

// Run
/** Some agents tell their usage right after the answer. */
export const TRAILING_MS = 200;
/** How long an agent gets to answer a prompt that was cancelled. */
export const CANCEL_MS = 10_000;
/** Messages waiting to be requested. */
export const WAITING_MESSAGES = 100;
