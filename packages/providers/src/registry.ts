/**
 * The providers, by name: one line each. Whoever adds a provider adds its folder, a fixture pair, its line here and its name in
 * names.ts.
 */

import { acpAdapter } from "./acp/adapter.ts";
import type { Adapter } from "./adapter.ts";
import { anthropicAdapter } from "./anthropic/adapter.ts";
import { claudeAdapter } from "./claude/adapter.ts";
import { findClaudeLogs, importClaudeLog } from "./claude/log.ts";
import { claudeControlAdapter } from "./claude-control/adapter.ts";
import { codexAdapter } from "./codex/adapter.ts";
import { findCodexLogs, importCodexLog } from "./codex/log.ts";
import { codexAppServerAdapter } from "./codex-app-server/adapter.ts";
import { geminiAdapter } from "./gemini/adapter.ts";
import type { Importer, LogFinder } from "./log.ts";
import type { ProviderName } from "./names.ts";
import { openaiAdapter } from "./openai/adapter.ts";
import { opencodeAdapter } from "./opencode/adapter.ts";
import { withoutRepeats } from "./repeats.ts";

export interface Provider {
  readonly name: string;
  readonly adapter: Adapter;
  /** How its bytes are cut into events. */
  readonly framing: "lines" | "sse";
  /** For CLIs that keep their sessions on disk. */
  readonly importLog?: Importer;
  readonly findLogs?: LogFinder;
}

const LIST: readonly (Provider & { readonly name: ProviderName })[] = [
  {
    name: "claude",
    adapter: claudeAdapter,
    framing: "lines",
    importLog: (files, run) => withoutRepeats(importClaudeLog(files, run)),
    findLogs: findClaudeLogs,
  },
  { name: "claude-control", adapter: claudeControlAdapter, framing: "lines" },
  {
    name: "codex",
    adapter: codexAdapter,
    framing: "lines",
    importLog: (files, run) => withoutRepeats(importCodexLog(files, run)),
    findLogs: findCodexLogs,
  },
  { name: "codex-app-server", adapter: codexAppServerAdapter, framing: "lines" },
  { name: "anthropic", adapter: anthropicAdapter, framing: "sse" },
  { name: "openai", adapter: openaiAdapter, framing: "sse" },
  { name: "opencode", adapter: opencodeAdapter, framing: "lines" },
  { name: "gemini", adapter: geminiAdapter, framing: "lines" },
  { name: "acp", adapter: acpAdapter, framing: "lines" },
];

export const providers: ReadonlyMap<string, Provider> = new Map(
  LIST.map((provider) => [provider.name, provider]),
);
