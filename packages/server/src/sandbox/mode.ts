/** What the setting may say. Apart from the sandbox itself, which a command that starts nothing need not load. */

/** `network`: on, with the network. */
export const SANDBOX_MODES = ["on", "network", "off"] as const;
export type SandboxMode = (typeof SANDBOX_MODES)[number];
