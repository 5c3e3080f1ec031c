/**
 * The composer: what to ask, of whom. While a turn runs, what is sent waits its turn at the server, and shows as waiting.
 */
import {
  type BlockId,
  type ConversationId,
  isProblem,
  type Json,
  type Problem,
  type View,
} from "@blockyard/kernel";
import { type KeyboardEvent, type ReactNode, useEffect, useRef } from "react";
import { fieldOf, refused, stopTurn } from "../actions/actions.ts";
import { askFolder, folderQuestion } from "../actions/folder-question.ts";
import { askTrust, trustQuestion } from "../actions/trust-question.ts";
import { headOf } from "../rows/view-tree.ts";
import { focusPrompt } from "../state/invitation.ts";
import { heads, isFollowing } from "../state/page-state.ts";
import { preferences } from "../state/preferences.ts";
import { go, linkTo, readRoute } from "../state/route.ts";
import { type Session, useIsViewer, useSession, useViewPart } from "../state/session.tsx";
import { isComposing } from "../ui/composing.ts";
import { Icon } from "../ui/icons.tsx";
import { AttachButton, useDrop } from "./attach-button.tsx";
import { AttachedList } from "./attached-list.tsx";
import { type Attachment, useAttachments } from "./attachments.ts";
import { joined, useDraft } from "./drafts.ts";
import { post, useLetters } from "./outbox.ts";
import { ProviderChoice, useProvider } from "./provider-choice.tsx";
import { Queue, Sending } from "./queue.tsx";
import { useSteers } from "./steers.ts";

const HISTORY = 100;
const TITLE_CHARS = 120;
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
    // Who has just sent the first prompt has the keyboard up; who follows a link to a block wants to read.
    if (begun !== undefined && begun === conversation) field.current?.focus();
    else if (readRoute(location.pathname, location.hash).block === undefined) focusPrompt();
    begun = undefined;
  }, [conversation]);
  const [provider, choose] = useProvider(conversation, usual);
  const [text, setText] = useDraft(conversation);
  const letters = useLetters(conversation);
  const attachments = useAttachments();
  const attach = (files: Iterable<File>) => {
    attachments.add(files);
    focusPrompt();
  };
  const isOver = useDrop(attach);
  const recall = useRecall(setText);
  const canSend = text.trim() !== "" && !attachments.isLoading;
  const steers = useSteers(provider);
  const submit = (when?: "next") => {
    const prompt = text.trim();
    if (!canSend) return;
    focusPrompt();
    past.push(prompt);
    past.splice(0, past.length - HISTORY);
    setText(() => "");
    const taken = attachments.take();
    const send = (to: ConversationId | undefined) =>
      startTurn(session, to, provider, prompt, taken.attachments, view && wayOf(view), when);
    const end = (isSent: boolean) => (isSent ? taken.drop() : taken.back());
    post(conversation, { text, send, end }, (made) => {
      begun = made;
      go(linkTo(made));
    });
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event.nativeEvent)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      submit();
    }
    if (event.key === "Escape") event.currentTarget.blur();
    turnPages(event);
    const last = attachments.items.at(-1);
    if (event.key === "Backspace" && event.currentTarget.value === "" && last) attachments.remove(last.id);
    recall(event);
  };
  return (
    <form
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
      <AttachedList attachments={attachments} />
      <textarea
        ref={field}
        value={text}
        rows={Math.min(12, Math.max(2, text.split("\n").length))}
        placeholder={promptHint(isRunning, isOver)}
        aria-label="Prompt"
        dir="auto"
        onChange={(event) => setText(() => event.target.value)}
        onKeyDown={onKey}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          attachments.add([...event.clipboardData.files]);
        }}
      />
      <div className="composer-foot">
        <ProviderChoice provider={provider} onChoose={choose} />
        <AttachButton onFiles={attach} />
        <span className="composer-hint">Enter sends, shift Enter breaks the line</span>
        {isRunning && conversation !== undefined && (
          <button
            type="button"
            className="stop"
            onClick={() => {
              focusPrompt();
              void stopTurn(session, conversation);
            }}
          >
            <Icon name="stop" /> Stop
          </button>
        )}
        {isRunning && steers && (
          <button
            type="button"
            disabled={!canSend}
            title="The agent reads it at its next step"
            onClick={() => submit("next")}
          >
            Send now
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
  when?: "next",
): Promise<ConversationId | undefined> {
  const model = preferences.get().models[provider];
  const request = {
    // A conversation of its own is made with the turn, or not at all.
    ...(conversation === undefined ? { title: titleOf(prompt) } : { conversation }),
    provider,
    prompt,
    ...(model ? { model } : {}),
    ...(parent ? { parent_id: parent } : {}),
    ...(when === undefined ? {} : { when }),
  };
  const send = (more: object) =>
    attachments.length === 0
      ? session.write("turn.start", { ...request, ...more })
      : session.post("turn.start", { ...request, ...more, attachments });
  let answer = await trusting(session, send, {});
  const question = isProblem(answer) ? folderQuestion(answer) : undefined;
  const cwd = question && (await askFolder(question));
  if (question && cwd === undefined) return undefined; // nothing was sent, which whoever closed the question knows
  if (cwd !== undefined) answer = await trusting(session, send, { cwd });
  if (answer === undefined) return undefined;
  if (isProblem(answer)) {
    refused("Not sent", answer);
    return undefined;
  }
  isFollowing.set(true);
  const made = fieldOf(answer, "conversation");
  return typeof made === "string" ? made : conversation;
}

/** Sends; where what acts by itself in the folder is not trusted yet, asks first. Undefined where it is not trusted. */
async function trusting(
  session: Session,
  send: (more: object) => Promise<Json | Problem>,
  more: object,
): Promise<Json | Problem | undefined> {
  const answer = await send(more);
  const question = isProblem(answer) ? trustQuestion(answer) : undefined;
  if (!question) return answer;
  if (!(await askTrust(question))) return undefined;
  const { folder, digest } = question;
  const given = await session.write("trust.allow", { folder, digest });
  return isProblem(given) ? given : send(more);
}

function titleOf(prompt: string): string {
  return (prompt.split("\n").find((line) => line.trim() !== "") ?? "")
    .trim()
    .slice(0, TITLE_CHARS)
    .toWellFormed();
}

/** The end of the way that the reader looks at, where it is not the conversation's own: a prompt goes on from what is seen. */
function wayOf(view: View): BlockId | undefined {
  const seen = headOf(view, heads.get().get(view.conversation));
  return seen === null || seen === view.record?.head ? undefined : seen;
}

/** The conversation that this page has just begun: its field goes on where the first one was left. */
let begun: ConversationId | undefined;

/** The field has the focus from the beginning: the keys that turn pages are the list's, unless the field has pages itself. */
function turnPages(event: KeyboardEvent<HTMLTextAreaElement>): void {
  const by = event.key === "PageUp" ? -1 : event.key === "PageDown" ? 1 : 0;
  const { scrollHeight, clientHeight } = event.currentTarget;
  const list = document.querySelector(".list");
  if (by === 0 || !list || scrollHeight > clientHeight + 4) return;
  event.preventDefault();
  list.scrollTop += by * 0.9 * list.clientHeight;
}

/** Arrow up in an empty field brings back what was asked before. */
function useRecall(
  setText: (step: () => string) => void,
): (event: KeyboardEvent<HTMLTextAreaElement>) => void {
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
    setText(() => (at.current === 0 ? "" : (past.at(-at.current) ?? "")));
  };
}
