/**
 * The foot of the composer: agent, model and mode; and the buttons that send, queue and stop. A choice made while the
 * agent works applies to the running turn, if the agent supports that.
 */
import type { ToolInput } from "@blockyard/client";
import { agentName, type ConversationId, isProblem, type View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useState } from "react";
import { refused, stopTurn } from "../actions/actions.ts";
import { focusPrompt } from "../state/invitation.ts";
import { notify } from "../state/page-state.ts";
import { useSession, useViewPart } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { AgentPicker } from "./agent-picker.tsx";
import { type AgentFacts, type Mode, type Offers, readOffers } from "./agents.ts";
import type { Chosen } from "./choices.ts";
import { ModePicker } from "./mode-picker.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { useDoubleEscape } from "./stop-key.ts";

interface FootProps {
  readonly conversation: ConversationId | undefined;
  readonly view: View | undefined;
  readonly chosen: Chosen;
  readonly agents: readonly AgentFacts[];
  readonly offers: Offers;
  readonly isRunning: boolean;
  readonly canSend: boolean;
  readonly steers: boolean;
  readonly attach: ReactNode;
  readonly onSendNow: () => void;
}

export function Foot(props: FootProps): ReactNode {
  const { conversation, view, isRunning, steers, attach } = props;
  const session = useSession();
  const [isStopping, setStopping] = useState(false);
  const stop = () => {
    focusPrompt();
    if (conversation === undefined || isStopping) return;
    setStopping(true);
    void stopTurn(session, conversation).finally(() => setStopping(false));
  };
  const isArmed = useDoubleEscape(isRunning, stop);
  return (
    <div className="composer-foot">
      <Pickers {...props} />
      {attach}
      <span className={isArmed ? "composer-hint armed" : "composer-hint"} aria-live="polite">
        {isStopping && isRunning ? (
          "Stopping…"
        ) : isArmed ? (
          "Press Esc again to stop"
        ) : isRunning && view ? (
          <RunningHint view={view} steers={steers} />
        ) : (
          SEND_HINT
        )}
      </span>
      <Senders {...props} onStop={stop} />
    </div>
  );
}

const SEND_HINT = "⏎ send · ⇧⏎ new line";

/** While an agent works. Its asks are answered by keys of their own, which are the field's while that has the focus. */
function RunningHint({ view, steers }: { view: View; steers: boolean }): ReactNode {
  const isAsking = useViewPart(view, ({ record }) => (record?.asking?.length ?? 0) > 0);
  if (isAsking) return "Esc to answer · ⏎ queue";
  return steers ? "⏎ queue · Ctrl ⏎ send now" : SEND_HINT;
}

/** The agent, its model, and its mode. */
function Pickers(props: FootProps): ReactNode {
  const { conversation, chosen, agents, offers } = props;
  const session = useSession();
  const facts = agents.find(({ provider }) => provider === chosen.provider);
  const tells = facts?.abilities.models === true || facts?.abilities.commands === true;
  const { provider } = chosen;
  const change = useChange(props);
  useEffect(() => {
    if (tells) void readOffers(session, provider, conversation);
  }, [session, tells, provider, conversation]);
  return (
    <div className="pickers">
      <AgentPicker chosen={chosen} agents={agents} />
      <ModelPicker
        offers={offers}
        model={chosen.model || undefined}
        effort={chosen.effort || undefined}
        onOpen={() => void readOffers(session, provider, conversation)}
        onModel={(model) => {
          const isKnown = offers.models
            ?.find(({ id }) => id === model)
            ?.efforts?.includes(chosen.effort ?? "");
          chosen.choose({ model: model ?? "", ...(isKnown ? {} : { effort: "" }) });
          change("model", { model });
        }}
        onEffort={(effort) => {
          chosen.choose({ effort: effort ?? "" });
          change("effort", { effort });
        }}
      />
      <ModePicker
        mode={chosen.mode}
        modes={facts?.abilities.modes ?? []}
        sandbox={chosen.sandbox || undefined}
        sandboxes={facts?.abilities.sandboxes ?? []}
        onMode={(mode: Mode) => {
          chosen.choose({ mode });
          change("mode", { mode });
        }}
        onSandbox={(sandbox) => chosen.choose({ sandbox: sandbox ?? "" })}
      />
    </div>
  );
}

interface SendersProps extends FootProps {
  readonly onStop: () => void;
}

function Senders({ conversation, isRunning, canSend, steers, onSendNow, onStop }: SendersProps): ReactNode {
  // In a narrow window one button has no text, and disabled ones take no room.
  const isOne = !isRunning || !canSend;
  return (
    <div className={isOne ? "senders one" : "senders"}>
      {isRunning && steers && canSend && (
        <button type="button" title="The agent reads it at its next step (Ctrl ⏎)" onClick={onSendNow}>
          Send now
        </button>
      )}
      {isRunning && conversation !== undefined && (
        <button type="button" className="stop" title="Stop (Esc Esc)" onClick={onStop}>
          <Icon name="stop" /> <span className="sender-words">Stop</span>
        </button>
      )}
      <button type="submit" className="primary" disabled={!canSend}>
        <Icon name={isRunning ? "clock" : "send"} />{" "}
        <span className="sender-words">{isRunning ? "Queue" : "Send"}</span>
      </button>
    </div>
  );
}

type Change = { readonly [K in "mode" | "model" | "effort"]?: ToolInput<"agent.change">[K] | undefined };

/** Changes the running agent's settings; if that is impossible, the choice is for its next turn, which is shown. */
function useChange({ conversation, isRunning, chosen, agents }: FootProps) {
  const session = useSession();
  return (what: keyof Change, fields: Change): void => {
    if (!isRunning || conversation === undefined) return;
    const { abilities } = agents.find(({ provider }) => provider === chosen.provider) ?? {};
    // Back to the agent's own: it is known when the next turn begins.
    if (fields[what] === undefined || !abilities?.midTurn.some((each) => each === what))
      return notify(`${agentName(chosen.provider)} will use this from its next turn`);
    void session.write("agent.change", { conversation, ...fields }).then((answer) => {
      if (isProblem(answer)) refused("Couldn't change", answer);
    });
  };
}
