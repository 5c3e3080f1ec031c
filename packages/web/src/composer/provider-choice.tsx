/**
 * Who is asked: one of the server's agents, and the model if another than its usual one is wanted.
 */
import type { ReactNode } from "react";
import { capabilities } from "../capabilities.ts";
import { useCell } from "../cell.ts";
import { prefer, preferences } from "../preferences.ts";

const LABELS: Readonly<Record<string, string>> = {
  claude: "Claude Code",
  codex: "Codex",
  anthropic: "Anthropic API",
  openai: "OpenAI API",
  gemini: "Gemini CLI",
  opencode: "opencode",
};

export function ProviderChoice(): ReactNode {
  const { provider, models } = useCell(preferences);
  const offered = useCell(capabilities)?.providers ?? [];
  const known = offered.length === 0 || offered.includes(provider) ? provider : (offered[0] as string);
  const choices = offered.length === 0 ? [known] : offered;
  return (
    <div className="provider-choice">
      <select aria-label="Agent" value={known} onChange={(event) => prefer({ provider: event.target.value })}>
        {choices.map((name) => (
          <option key={name} value={name}>
            {LABELS[name] ?? name}
          </option>
        ))}
      </select>
      <input
        aria-label="Model"
        placeholder="usual model"
        value={models[known] ?? ""}
        size={14}
        onChange={(event) => prefer({ models: { ...models, [known]: event.target.value.trim() } })}
      />
    </div>
  );
}

/** The agent that is asked: the chosen one, if the server has it. */
export function chosenProvider(): string {
  const { provider } = preferences.get();
  const offered = capabilities.get()?.providers ?? [];
  return offered.length === 0 || offered.includes(provider) ? provider : (offered[0] as string);
}
