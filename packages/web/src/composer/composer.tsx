/**
 * The composer: what to ask, of whom, and how freely it may work. While a turn runs, what is sent goes to the agent at its next
 * step, or waits its turn at the server, and shows as waiting.
 */
import type { BlockId, ConversationId, View } from "@blockyard/kernel";
import { type ReactNode, useEffect, useRef } from "react";
import { include, includeFile, toInclude } from "../actions/include.ts";
import { type Resent, resent } from "../actions/resend.ts";
import { headOf } from "../rows/view-tree.ts";
import { Cell, useCell } from "../state/cell.ts";
import { focusPrompt } from "../state/invitation.ts";
import { heads } from "../state/page-state.ts";
import { go, linkTo, readRoute } from "../state/route.ts";
import { useIsViewer, useSession, useViewPart } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { AgentNote } from "./agent-picker.tsx";
import { readOffers, useAgents, useOffers } from "./agents.ts";
import { AttachButton, useDrop } from "./attach-button.tsx";
import { AttachedList } from "./attached-list.tsx";
import { useAttachments } from "./attachments.ts";
import { type Last, requestOf, useChosen } from "./choices.ts";
import { ContextChips } from "./context-chips.tsx";
import { joined, useDraft } from "./drafts.ts";
import { Field } from "./field.tsx";
import { Foot } from "./foot.tsx";
import { remember } from "./history.ts";
import { modeIn } from "./mode-picker.tsx";
import { post, useLetters } from "./outbox.ts";
import { Queue, Sending } from "./queue.tsx";
import { startTurn } from "./start-turn.ts";

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

/** The place behind which the prompt of a conversation goes that is being written anew. */
const branches = new Cell<ReadonlyMap<ConversationId, BlockId | null>>(new Map());

function Box({ conversation, isRunning, last, view }: BoxProps): ReactNode {
  const session = useSession();
  const box = useRef<HTMLFormElement>(null);
  useFocusAtFirst(conversation, box);
  const agents = useAgents();
  const chosen = useChosen(conversation, last, agents);
  const offers = useOffers(chosen.provider, conversation);
  const facts = agents.find(({ provider }) => provider === chosen.provider);
  const [text, setText] = useDraft(conversation);
  const letters = useLetters(conversation);
  const attachments = useAttachments();
  const branch = useCell(branches).get(conversation ?? "");
  const attach = (files: Iterable<File>) => {
    attachments.add(files);
    focusPrompt();
  };
  const isOver = useDrop(attach);
  const canSend = text.trim() !== "" && !attachments.isLoading;
  const steers = facts?.abilities.steering === "step";
  const agent = requestOf(chosen, agents);
  const submit = (when?: "next") => {
    const prompt = text.trim();
    if (!canSend) return;
    focusPrompt();
    remember(prompt);
    setText(() => "");
    const taken = attachments.take();
    const included = conversation === undefined ? toInclude.get() : [];
    const parent = branch === undefined ? view && wayOf(view) : branch;
    if (conversation !== undefined) leaveBranch(conversation);
    const send = (to: ConversationId | undefined) =>
      startTurn(session, {
        ...{ conversation: to, agent, prompt, attachments: taken.attachments },
        ...{ parent, when, include: included },
      });
    const end = (isSent: boolean) => {
      if (isSent) {
        taken.drop();
        if (conversation === undefined) toInclude.set([]);
      } else {
        taken.back();
        if (branch !== undefined && conversation !== undefined) enterBranch(conversation, branch);
      }
    };
    post(conversation, { text, send, end }, (made) => {
      begun = made;
      go(linkTo(made));
    });
  };
  const cancelBranch = () => {
    if (conversation !== undefined) leaveBranch(conversation);
    setText(() => "");
    attachments.take().drop();
    focusPrompt();
  };
  useResent(conversation, (sent) => {
    if (sent.how === "send") return sendAgain(sent);
    setText(() => sent.text);
    attachments.bring(sent.attachments);
    if (conversation !== undefined && sent.parent !== undefined) enterBranch(conversation, sent.parent);
    focusPrompt();
  });
  const sendAgain = ({ text: prompt, attachments: files, parent }: Resent) => {
    const from = parent === undefined && view ? wayOf(view) : parent;
    const send = (to: ConversationId | undefined) =>
      startTurn(session, { conversation: to, agent, prompt, attachments: files, parent: from });
    post(conversation, { text: prompt, send, end: () => undefined }, () => undefined);
  };
  return (
    <form
      ref={box}
      className={isOver ? "composer over" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {view && (
        <Queue
          view={view}
          onEdit={(back, files) => {
            setText((now) => joined(now, back));
            attachments.restore(files);
            focusPrompt();
          }}
        />
      )}
      {letters.map((letter, i) => (
        <Sending key={i} text={letter.text} />
      ))}
      {branch !== undefined && <BranchNote onCancel={cancelBranch} />}
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

function BranchNote({ onCancel }: { onCancel: () => void }): ReactNode {
  return (
    <div className="branch-note" role="status">
      <Icon name="branch" />
      <span>Editing an earlier message. Later messages stay on another branch</span>
      <button type="button" className="quiet-button" onClick={onCancel}>
        Cancel
      </button>
    </div>
  );
}

function enterBranch(conversation: ConversationId, parent: BlockId | null): void {
  branches.change((all) => new Map(all).set(conversation, parent));
}

function leaveBranch(conversation: ConversationId): void {
  branches.change((all) => new Map([...all].filter(([id]) => id !== conversation)));
}

/** What is to be sent again, once, where it belongs to this conversation. */
function useResent(conversation: ConversationId | undefined, take: (sent: Resent) => void): void {
  const waiting = useCell(resent);
  const isOwn = waiting !== undefined && waiting.conversation === conversation;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each, whatever else has changed
  useEffect(() => {
    if (!isOwn) return;
    resent.set(undefined);
    take(waiting);
  }, [waiting, isOwn]);
}

/** The end of the way that the reader looks at, where it is not the conversation's own: a prompt goes on from what is seen. */
function wayOf(view: View): BlockId | undefined {
  const seen = headOf(view, heads.get().get(view.conversation));
  return seen === null || seen === view.record?.head ? undefined : seen;
}

/** The conversation that this page has just begun: its field goes on where the first one was left. */
let begun: ConversationId | undefined;

function useFocusAtFirst(
  conversation: ConversationId | undefined,
  box: { readonly current: HTMLElement | null },
): void {
  useEffect(() => {
    // Who has just sent the first prompt has the keyboard up; who follows a link to a block wants to read.
    if (begun !== undefined && begun === conversation) box.current?.querySelector("textarea")?.focus();
    else if (readRoute(location.pathname, location.hash).block === undefined) focusPrompt();
    begun = undefined;
  }, [conversation, box]);
}
