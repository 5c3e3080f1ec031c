/**
 * The composer: what to ask, of whom. While a turn runs, what is sent waits its turn at the server, and shows as waiting.
 */
import { type BlockId, type ConversationId, isProblem, type View } from "@blockyard/kernel";
import { type KeyboardEvent, type ReactNode, type SetStateAction, useEffect, useRef, useState } from "react";
import { fieldOf, refused, stopTurn } from "../actions/actions.ts";
import { askFolder, folderQuestion } from "../actions/folder-question.ts";
import { isComposing } from "../composing.ts";
import { headOf } from "../conversation/view-tree.ts";
import { Icon } from "../icons.tsx";
import { heads, isFollowing } from "../page-state.ts";
import { preferences } from "../preferences.ts";
import { go, linkTo } from "../route.ts";
import { type Session, useIsViewer, useSession, useViewPart } from "../session.tsx";
import { AttachButton, useDrop } from "./attach-button.tsx";
import { AttachedList } from "./attached-list.tsx";
import { type Attachment, useAttachments } from "./attachments.ts";
import { ProviderChoice, useProvider } from "./provider-choice.tsx";
import { Queue, Sending } from "./queue.tsx";

const HISTORY = 100;
const past: string[] = [];

interface ComposerProps {
  /** undefined: the prompt begins a new conversation. */
  readonly conversation: ConversationId | undefined;
  readonly view?: View;
}

export function Composer({ conversation, view }: ComposerProps): ReactNode {
  if (useIsViewer())
    return <p className="composer reading">You are reading along: this link changes nothing.</p>;
  return view ? (
    <Inside conversation={conversation} view={view} />
  ) : (
    <Box conversation={conversation} isRunning={false} usual={undefined} view={undefined} />
  );
}

function Inside({ conversation, view }: { conversation: ConversationId | undefined; view: View }): ReactNode {
  const isRunning = useViewPart(view, ({ record }) => (record?.running.length ?? 0) > 0);
  const usual = useViewPart(view, ({ record }) => record?.provider);
  return <Box conversation={conversation} isRunning={isRunning} usual={usual} view={view} />;
}

interface BoxProps {
  readonly conversation: ConversationId | undefined;
  readonly isRunning: boolean;
  /** The agent that was asked last here. */
  readonly usual: string | undefined;
  readonly view: View | undefined;
}

function Box({ conversation, isRunning, usual, view }: BoxProps): ReactNode {
  const session = useSession();
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (begun !== undefined && begun === conversation) field.current?.focus();
    begun = undefined;
  }, [conversation]);
  const [provider, choose] = useProvider(conversation, usual);
  const [text, setText] = useDraft(conversation);
  const [sending, setSending] = useState<string | undefined>(undefined);
  const attachments = useAttachments();
  const isOver = useDrop(attachments.add);
  const recall = useRecall(setText);
  const canSend = text.trim() !== "" && sending === undefined && !attachments.isLoading;
  const submit = async () => {
    const prompt = text.trim();
    if (!canSend) return;
    past.push(prompt);
    past.splice(0, past.length - HISTORY);
    setText("");
    setSending(prompt);
    const taken = attachments.take();
    const parent = view && wayOf(view);
    const isSent = await startTurn(session, conversation, provider, prompt, taken.attachments, parent);
    setSending(undefined);
    if (isSent) return taken.drop();
    setText((now) => (now === "" ? prompt : now));
    taken.back();
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      void submit();
    }
    const last = attachments.items.at(-1);
    if (event.key === "Backspace" && event.currentTarget.value === "" && last) attachments.remove(last.id);
    recall(event);
  };
  return (
    <form
      className={isOver ? "composer over" : "composer"}
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      {view && (
        <Queue
          view={view}
          onEdit={(back) => setText((now) => (now.trim() === "" ? back : `${now}\n${back}`))}
        />
      )}
      {sending !== undefined && <Sending text={sending} />}
      <AttachedList attachments={attachments} />
      <textarea
        ref={field}
        value={text}
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        placeholder={promptHint(isRunning, isOver)}
        aria-label="Prompt"
        dir="auto"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          attachments.add([...event.clipboardData.files]);
        }}
      />
      <div className="composer-foot">
        <ProviderChoice provider={provider} onChoose={choose} />
        <AttachButton onFiles={attachments.add} />
        <span className="composer-hint">Enter sends, shift Enter breaks the line</span>
        {isRunning && conversation !== undefined && (
          <button type="button" className="stop" onClick={() => void stopTurn(session, conversation)}>
            <Icon name="stop" /> Stop
          </button>
        )}
        <button type="submit" className="primary" disabled={!canSend}>
          <Icon name="send" /> {isRunning ? "Queue" : "Send"}
        </button>
      </div>
    </form>
  );
}

function promptHint(isRunning: boolean, isOver: boolean): string {
  if (isOver) return "Drop to attach";
  return isRunning ? "Say what comes next; it waits until this turn has ended" : "Ask an agent…";
}

async function startTurn(
  session: Session,
  conversation: ConversationId | undefined,
  provider: string,
  prompt: string,
  attachments: readonly Attachment[],
  parent: BlockId | undefined,
): Promise<boolean> {
  const model = preferences.get().models[provider];
  const where = conversation ?? (await newConversation(session, prompt));
  if (where === undefined) return false;
  const request = {
    conversation: where,
    provider,
    prompt,
    ...(model ? { model } : {}),
    ...(parent ? { parent_id: parent } : {}),
  };
  const send = (more: object) =>
    attachments.length === 0
      ? session.write("turn.start", { ...request, ...more })
      : session.post("turn.start", { ...request, ...more, attachments });
  let answer = await send({});
  const question = isProblem(answer) ? folderQuestion(answer) : undefined;
  const cwd = question && (await askFolder(question));
  if (question && cwd === undefined) return false; // nothing was sent, which whoever closed the question knows
  if (cwd !== undefined) answer = await send({ cwd });
  if (isProblem(answer)) {
    refused("Not sent", answer);
    if (conversation === undefined) await putAway(session, where);
    return false;
  }
  isFollowing.set(true);
  if (conversation === undefined) {
    begun = where;
    go(linkTo(where));
  }
  return true;
}

/** The end of the way that the reader looks at, where it is not the conversation's own: a prompt goes on from what is seen. */
function wayOf(view: View): BlockId | undefined {
  const seen = headOf(view, heads.get().get(view.conversation));
  return seen === null || seen === view.record?.head ? undefined : seen;
}

/** A conversation that was made for a prompt that could not be sent: out of the list until the next one takes it. */
let unused: ConversationId | undefined;

/** The conversation that this page has just begun: its field goes on where the first one was left. */
let begun: ConversationId | undefined;

const drafts = new Map<ConversationId | undefined, string>();

/** What is written and not sent stays with its conversation while one looks at another. */
function useDraft(
  conversation: ConversationId | undefined,
): [string, (step: SetStateAction<string>) => void] {
  const [text, setText] = useState(() => drafts.get(conversation) ?? "");
  useEffect(() => {
    if (text === "") drafts.delete(conversation);
    else drafts.set(conversation, text);
  }, [conversation, text]);
  return [text, setText];
}

async function newConversation(session: Session, prompt: string): Promise<ConversationId | undefined> {
  const title = (prompt.split("\n").find((line) => line.trim() !== "") ?? "").trim().slice(0, 120);
  if (unused !== undefined) {
    const conversation = unused;
    unused = undefined;
    const taken = await session.write("conversation.update", { conversation, title, archived: false });
    if (!isProblem(taken)) return conversation;
  }
  const answer = await session.write("conversation.create", { title });
  if (isProblem(answer)) {
    refused("Not sent", answer);
    return undefined;
  }
  const id = fieldOf(answer, "conversation");
  return typeof id === "string" ? id : undefined;
}

async function putAway(session: Session, conversation: ConversationId): Promise<void> {
  const answer = await session.write("conversation.update", { conversation, archived: true });
  if (!isProblem(answer)) unused = conversation;
}

/** Arrow up in an empty field brings back what was asked before. */
function useRecall(setText: (text: string) => void): (event: KeyboardEvent<HTMLTextAreaElement>) => void {
  const at = useRef(0);
  return (event) => {
    const { value, selectionStart } = event.currentTarget;
    const isAtEdge = event.key === "ArrowUp" ? selectionStart === 0 || at.current > 0 : at.current > 0;
    const isRecalled = value === "" || value === past.at(-at.current);
    if ((event.key !== "ArrowUp" && event.key !== "ArrowDown") || !isAtEdge || !isRecalled) {
      if (event.key.length === 1) at.current = 0;
      return;
    }
    event.preventDefault();
    at.current = Math.min(past.length, Math.max(0, at.current + (event.key === "ArrowUp" ? 1 : -1)));
    setText(at.current === 0 ? "" : (past.at(-at.current) ?? ""));
  };
}
