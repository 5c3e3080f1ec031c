/**
 * The composer: what to ask, of whom. While a turn runs, what is sent waits its turn at the server, and shows as waiting.
 */
import { type ConversationId, isProblem, type View } from "@blockyard/kernel";
import { type KeyboardEvent, type ReactNode, type SetStateAction, useEffect, useRef, useState } from "react";
import { fieldOf, refused, stopTurn } from "../actions/actions.ts";
import { Icon } from "../icons.tsx";
import { isFollowing } from "../page-state.ts";
import { preferences } from "../preferences.ts";
import { go, linkTo } from "../route.ts";
import { type Session, useSession, useViewPart } from "../session.tsx";
import { AttachButton, useDrop } from "./attach-button.tsx";
import { AttachedList } from "./attached-list.tsx";
import { type Attachment, useAttachments } from "./attachments.ts";
import { chosenProvider, ProviderChoice } from "./provider-choice.tsx";
import { Queue } from "./queue.tsx";

const HISTORY = 100;
const past: string[] = [];

interface ComposerProps {
  /** undefined: the prompt begins a new conversation. */
  readonly conversation: ConversationId | undefined;
  readonly view?: View;
}

export function Composer({ conversation, view }: ComposerProps): ReactNode {
  return view ? (
    <Inside conversation={conversation} view={view} />
  ) : (
    <Box conversation={conversation} isRunning={false} view={undefined} />
  );
}

function Inside({ conversation, view }: { conversation: ConversationId | undefined; view: View }): ReactNode {
  const isRunning = useViewPart(view, ({ record }) => (record?.running.length ?? 0) > 0);
  return <Box conversation={conversation} isRunning={isRunning} view={view} />;
}

interface BoxProps {
  readonly conversation: ConversationId | undefined;
  readonly isRunning: boolean;
  readonly view: View | undefined;
}

function Box({ conversation, isRunning, view }: BoxProps): ReactNode {
  const session = useSession();
  const [text, setText] = useDraft(conversation);
  const [isSending, setSending] = useState(false);
  const attachments = useAttachments();
  const isOver = useDrop(attachments.add);
  const recall = useRecall(setText);
  const canSend = text.trim() !== "" && !isSending && !attachments.isLoading;
  const submit = async () => {
    const prompt = text.trim();
    if (!canSend) return;
    past.push(prompt);
    past.splice(0, past.length - HISTORY);
    setText("");
    setSending(true);
    const taken = attachments.take();
    const isSent = await startTurn(session, conversation, prompt, taken.attachments);
    setSending(false);
    if (isSent) return taken.drop();
    setText((now) => (now === "" ? prompt : now));
    taken.back();
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
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
      <AttachedList attachments={attachments} />
      <textarea
        value={text}
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        placeholder={promptHint(isRunning, isOver)}
        aria-label="Prompt"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKey}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          attachments.add([...event.clipboardData.files]);
        }}
      />
      <div className="composer-foot">
        <ProviderChoice />
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
  prompt: string,
  attachments: readonly Attachment[],
): Promise<boolean> {
  const provider = chosenProvider();
  const model = preferences.get().models[provider];
  const where = conversation ?? unused ?? (await newConversation(session, prompt));
  if (where === undefined) return false;
  if (conversation === undefined) unused = where;
  const request = { conversation: where, provider, prompt, ...(model ? { model } : {}) };
  const answer =
    attachments.length === 0
      ? await session.write("turn.start", request)
      : await session.post("turn.start", { ...request, attachments });
  if (isProblem(answer)) refused("Not sent", answer);
  else isFollowing.set(true);
  if (conversation === undefined && !isProblem(answer)) {
    unused = undefined;
    go(linkTo(where));
  }
  return !isProblem(answer);
}

/** A conversation that was made for a prompt that could not be sent: the next one takes it. */
let unused: ConversationId | undefined;

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
  const answer = await session.write("conversation.create", { title });
  if (isProblem(answer)) {
    refused("Not sent", answer);
    return undefined;
  }
  const id = fieldOf(answer, "conversation");
  return typeof id === "string" ? id : undefined;
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
