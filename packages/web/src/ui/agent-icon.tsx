/** An agent's icon for small spaces: a mark of its own, and its name for screen readers. */
import type { ReactNode } from "react";
import { Icon, type IconName } from "./icons.tsx";

const AGENTS: Readonly<Record<string, { readonly name: string; readonly icon: IconName }>> = {
  claude: { name: "Claude Code", icon: "agentClaude" },
  codex: { name: "Codex", icon: "agentCodex" },
  anthropic: { name: "Anthropic API", icon: "agentApi" },
  openai: { name: "OpenAI API", icon: "agentApi" },
  gemini: { name: "Gemini CLI", icon: "agentGemini" },
  opencode: { name: "opencode", icon: "terminal" },
  qwen: { name: "Qwen Code", icon: "agent" },
  copilot: { name: "GitHub Copilot", icon: "agent" },
  kimi: { name: "Kimi Code", icon: "moon" },
};

export function agentName(provider: string): string {
  return AGENTS[provider]?.name ?? provider;
}

/** The same wherever the agent is named. */
export function agentIcon(provider: string): IconName {
  return AGENTS[provider]?.icon ?? "agent";
}

export function AgentIcon({ provider }: { provider: string | undefined }): ReactNode {
  return <Icon name={provider ? agentIcon(provider) : "turns"} className="agent-icon" />;
}
