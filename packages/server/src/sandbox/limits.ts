/** Bounds of the sandbox. */

// Git obeys
export const GIT_CONFIG_BYTES = 1024 * 1024;

// Sandbox
/** How long it may take to find out whether the sandbox works here. */
export const SANDBOX_TRY_MS = 10_000;
