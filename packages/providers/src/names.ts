/** The names of the providers, for whoever only needs those: what each does is registry.ts. */

export const PROVIDER_NAMES = [
  "claude",
  "claude-control",
  "codex",
  "codex-app-server",
  "anthropic",
  "openai",
  "opencode",
  "gemini",
  "acp",
] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** Those of CLIs that keep their sessions on disk. */
export const LOGGING_PROVIDERS = ["claude", "codex"] as const satisfies readonly ProviderName[];
