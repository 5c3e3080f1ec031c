/**
 * Who is asked: one of the server's agents, and the model if another than its usual one is wanted.
 */
import type { ConversationId } from "@blockyard/kernel";
import { type ReactNode, useRef } from "react";
import { capabilities } from "../state/capabilities.ts";
import { Cell, useCell } from "../state/cell.ts";
import { focusPrompt } from "../state/invitation.ts";
import { prefer, preferences } from "../state/preferences.ts";

const LABELS: Readonly<Record<string, string>> = {
  claude: "Claude Code",
  codex: "Codex",
  anthropic: "Anthropic API",
  openai: "OpenAI API",
  gemini: "Gemini CLI",
  opencode: "opencode",
  qwen: "Qwen Code",
  copilot: "GitHub Copilot",
  kimi: "Kimi Code",
};

interface ProviderChoiceProps {
  readonly provider: string;
  readonly onChoose: (provider: string) => void;
}

export function ProviderChoice({ provider, onChoose }: ProviderChoiceProps): ReactNode {
  const { models } = useCell(preferences);
  const { providers: offered = [], problems } = useCell(capabilities) ?? {};
  const choices = offered.length === 0 ? [provider] : offered;
  const missing = choices.filter((name) => problems?.has(name));
  const isByHand = useRef(false);
  return (
    <div className="provider-choice">
      <select
        aria-label="Agent"
        title={problems?.get(provider)}
        value={provider}
        onPointerDown={() => {
          isByHand.current = true;
        }}
        onKeyDown={() => {
          isByHand.current = false;
        }}
        onChange={(event) => {
          onChoose(event.target.value);
          // Letters would choose another agent: who has chosen one with the pointer goes on by writing.
          if (isByHand.current) focusPrompt();
        }}
      >
        {choices.filter((name) => !missing.includes(name)).map(optionOf)}
        {missing.length > 0 && <optgroup label="Not ready on this machine">{missing.map(optionOf)}</optgroup>}
      </select>
      <input
        aria-label="Model"
        placeholder="usual model"
        value={models[provider] ?? ""}
        size={14}
        onChange={(event) => prefer({ models: { ...models, [provider]: event.target.value.trim() } })}
      />
    </div>
  );
}

function optionOf(name: string): ReactNode {
  return (
    <option key={name} value={name}>
      {LABELS[name] ?? name}
    </option>
  );
}

/** Who was chosen in a conversation, as long as this page is open. */
const chosen = new Cell<ReadonlyMap<ConversationId, string>>(new Map());

/**
 * The agent that is asked, and a way to choose another: who was chosen here; else who was asked last here, so that a
 * conversation goes on with whom it began; else who was chosen anywhere. Each only if the server has it.
 */
export function useProvider(
  conversation: ConversationId | undefined,
  usual: string | undefined,
): [string, (provider: string) => void] {
  const { provider: preferred } = useCell(preferences);
  const offered = useCell(capabilities)?.providers ?? [];
  const here = useCell(chosen).get(conversation ?? "");
  const known = [here, usual, preferred].find((name) => name !== undefined && offered.includes(name));
  const choose = (provider: string) => {
    if (conversation !== undefined) chosen.change((all) => new Map(all).set(conversation, provider));
    prefer({ provider });
  };
  return [known ?? offered[0] ?? preferred, choose];
}
