/**
 * The composer: what to ask, of whom, and how freely it may work. While a turn runs, what is sent goes to the agent at its next
 * step, or waits its turn at the server, and shows as waiting.
 */
import type { ConversationId, View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef } from "react";
import { include, includeFile } from "../actions/include.ts";
import { isElsewhere } from "../state/elsewhere.ts";
import { focusPrompt } from "../state/invitation.ts";
import { readRoute } from "../state/route.ts";
import { useIsViewer, useSession, useViewPart } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { AgentNote } from "./agent-picker.tsx";
import { readOffers, useAgents, useOffers } from "./agents.ts";
import { AttachButton, useDrop } from "./attach-button.tsx";
import { AttachedList } from "./attached-list.tsx";
import { useAttachments } from "./attachments.ts";
import { type Last, requestOf, useChosen } from "./choices.ts";
import { ContextChips } from "./context-chips.tsx";
import { Field } from "./field.tsx";
import { Foot } from "./foot.tsx";
import { modeIn } from "./mode-picker.tsx";
import { useLetters } from "./outbox.ts";
import { Queue, Sending } from "./queue.tsx";
import { goesOnHere, useSending } from "./sending.ts";
import { Tasks } from "./tasks.tsx";

interface ComposerProps {
  /** undefined: the prompt begins a new conversation. */
  readonly conversation: ConversationId | undefined;
  readonly view?: View;
}

export function Composer({ conversation, view }: ComposerProps): ReactNode {
  if (useIsViewer()) return <p className="composer reading">Read only: this link can't change anything.</p>;
  return view ? (
    <Inside conversation={conversation} view={view} />
  ) : (
    <Box conversation={conversation} isRunning={false} last={NEVER} view={undefined} />
  );
}

function Inside({ conversation, view }: { conversation: ConversationId | undefined; view: View }): ReactNode {
  const isRunning = useViewPart(view, ({ record }) => (record?.running.length ?? 0) > 0);
  const provider = useViewPart(view, ({ record }) => record?.provider);
  const mode = useViewPart(view, ({ record }) => modeIn(record?.metadata));
  return <Box conversation={conversation} isRunning={isRunning} last={{ provider, mode }} view={view} />;
}

const NEVER: Last = {};

interface BoxProps {
  readonly conversation: ConversationId | undefined;
  readonly isRunning: boolean;
  readonly last: Last;
  readonly view: View | undefined;
}

function Box({ conversation, isRunning, last, view }: BoxProps): ReactNode {
  const session = useSession();
  const box = useRef<HTMLFormElement>(null);
  useFocusAtFirst(conversation, box);
  const agents = useAgents();
  const chosen = useChosen(conversation, last, agents);
  const offers = useOffers(chosen.provider, conversation);
  const facts = agents.find(({ provider }) => provider === chosen.provider);
  const letters = useLetters(conversation);
  const attachments = useAttachments();
  const sending = useSending({ conversation, view, agent: requestOf(chosen, agents), attachments });
  const { text, setText, canSend, submit } = sending;
  const attach = (files: Iterable<File>) => {
    attachments.add(files);
    focusPrompt();
  };
  const isOver = useDrop(attach);
  const isSure = session.replica.self !== undefined;
  const steers = facts?.abilities.steering === "step";
  return (
    <form
      ref={box}
      className={`composer${isOver ? " over" : ""}${isSure ? "" : " unsure"}`}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {view && conversation !== undefined && facts?.abilities.stopsTasks === true && (
        <Tasks key={conversation} conversation={conversation} view={view} isRunning={isRunning} />
      )}
      {view && <Queue view={view} onEdit={sending.takeBack} />}
      {letters.map((letter, i) => (
        <Sending key={i} text={letter.text} />
      ))}
      {sending.branch && <BranchNote how={sending.branch} onCancel={sending.cancelBranch} />}
      <ContextChips view={view} />
      <AttachedList attachments={attachments} />
      <Field
        text={text}
        onText={(next) => setText(() => next)}
        placeholder={promptHint(isRunning, isOver, steers)}
        commands={offers.commands ?? NONE}
        onCommands={() => void readOffers(session, chosen.provider, conversation)}
        onSubmit={(isNow) => submit(isNow && isRunning && steers ? "next" : undefined)}
        onFiles={attachments.add}
        onErase={() => {
          const item = attachments.items.at(-1);
          if (item) attachments.remove(item.id);
        }}
        onIncludeFile={(path) => void includeFile(session, conversation, path)}
        onIncludeBlock={(block) => void include(session, conversation, block)}
      />
      <AgentNote chosen={chosen} agents={agents} />
      <Foot
        {...{ conversation, view, chosen, agents, offers, isRunning, canSend, steers }}
        attach={<AttachButton onFiles={attach} />}
        onSendNow={() => submit("next")}
      />
    </form>
  );
}

const NONE: readonly never[] = [];

function promptHint(isRunning: boolean, isOver: boolean, steers: boolean): string {
  if (isOver) return "Drop to attach";
  if (!isRunning) return "Ask an agent. @ mentions a file, / runs a command";
  return steers ? "Queue a follow-up, or send it now…" : "Queue a follow-up…";
}

interface BranchNoteProps {
  readonly how: "edit" | "fork";
  readonly onCancel: () => void;
}

function BranchNote({ how, onCancel }: BranchNoteProps): ReactNode {
  const what =
    how === "edit" ? "Editing an earlier message." : "Your next prompt continues from an earlier block.";
  return (
    <div className="branch-note" role="status">
      <Icon name="branch" />
      <span>{what} Later messages stay on another branch</span>
      <button type="button" className="quiet-button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

function useFocusAtFirst(
  conversation: ConversationId | undefined,
  box: { readonly current: HTMLElement | null },
): void {
  useEffect(() => {
    // After the first prompt the keyboard is open; after following a link to a block the user wants to read.
    if (goesOnHere(conversation)) box.current?.querySelector("textarea")?.focus();
    else if (readRoute(location.pathname, location.hash).block === undefined && !isElsewhere()) focusPrompt();
  }, [conversation, box]);
}
