/** Which agent is asked. Those that cannot be asked here stand apart, and say why and what to do. */
import { agentName } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useSession } from "../state/session.tsx";
import { agentIcon } from "../ui/agent-icon.tsx";
import { Icon } from "../ui/icons.tsx";
import { Message } from "../ui/message.tsx";
import { type AgentFacts, refreshAgents } from "./agents.ts";
import { asSentence } from "./as-sentence.ts";
import type { Chosen } from "./choices.ts";
import { Picker, PickerItem } from "./picker.tsx";

/** Shown before anything is sent: what is missing, and what to do about it. */
export function AgentNote({ chosen: { provider }, agents }: AgentPickerProps): ReactNode {
  const problem = agents.find((agent) => agent.provider === provider)?.problem;
  if (problem === undefined) return null;
  return (
    <p className="agent-note" role="status">
      <Icon name="warn" />
      <span>
        {agentName(provider)} isn't ready: <Message text={asSentence(problem)} />
      </span>
    </p>
  );
}

interface AgentPickerProps {
  readonly chosen: Chosen;
  readonly agents: readonly AgentFacts[];
}

export function AgentPicker({ chosen, agents }: AgentPickerProps): ReactNode {
  const session = useSession();
  const { provider } = chosen;
  const known = agents.find((agent) => agent.provider === provider);
  const ready = agents.filter(({ problem }) => problem === undefined);
  const missing = agents.filter(({ problem }) => problem !== undefined);
  return (
    <Picker
      label="Agent"
      icon={agentIcon(provider)}
      text={agentName(provider)}
      tone={known?.problem === undefined ? "plain" : "warn"}
      onOpen={() => void refreshAgents(session)}
    >
      {(close) => {
        const item = (agent: AgentFacts) => (
          <PickerItem
            key={agent.provider}
            icon={agentIcon(agent.provider)}
            name={agentName(agent.provider)}
            description={
              agent.problem === undefined ? undefined : <Message text={asSentence(agent.problem)} />
            }
            isChosen={agent.provider === provider}
            onChoose={() => {
              chosen.ask(agent.provider);
              close();
            }}
          />
        );
        return (
          <>
            {ready.length > 0 && (
              // biome-ignore lint/a11y/useSemanticElements: a group of menu items is no fieldset
              <div role="group" aria-label="Agents">
                {ready.map(item)}
              </div>
            )}
            {missing.length > 0 && (
              // biome-ignore lint/a11y/useSemanticElements: a group of menu items is no fieldset
              <div role="group" className="not-ready" aria-label="Not ready on this machine">
                <div className="picker-title" aria-hidden="true">
                  Not ready on this machine
                </div>
                {missing.map(item)}
              </div>
            )}
          </>
        );
      }}
    </Picker>
  );
}
