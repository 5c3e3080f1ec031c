/**
 * Sends the text of the field: its destination (after what the reader sees, or in place of an earlier message), its
 * attachments, and what returns to the field if it is refused.
 */
import type { BlockId, ConversationId, QueuedMark, View } from "@blockyard/kernel";
import { useEffect } from "react";
import { toInclude } from "../actions/include.ts";
import { type Resent, resent } from "../actions/resend.ts";
import { headOf } from "../rows/view-tree.ts";
import { Cell, useCell } from "../state/cell.ts";
import { focusPrompt } from "../state/invitation.ts";
import { heads } from "../state/page-state.ts";
import { go, linkTo } from "../state/route.ts";
import { useSession } from "../state/session.tsx";
import type { Attachments } from "./attachments.ts";
import { joined, useDraft } from "./drafts.ts";
import { remember } from "./history.ts";
import { post } from "./outbox.ts";
import { type Asked, startTurn } from "./start-turn.ts";

/** Where the prompt of a conversation goes that is being written anew, or that was forked while its agent works. */
interface Branch {
  readonly parent: BlockId | null;
  readonly how: "edit" | "fork";
}

const branches = new Cell<ReadonlyMap<ConversationId, Branch>>(new Map());

/** The conversation that this page has just begun: its field goes on where the first one was left. */
let begun: ConversationId | undefined;

/** Forgotten as soon as another one is opened. */
export function goesOnHere(conversation: ConversationId | undefined): boolean {
  if (begun !== conversation) begun = undefined;
  return begun !== undefined;
}

interface SendingProps {
  readonly conversation: ConversationId | undefined;
  readonly view: View | undefined;
  readonly agent: Asked["agent"];
  readonly attachments: Attachments;
}

interface Sending {
  readonly text: string;
  setText(step: (now: string) => string): void;
  readonly canSend: boolean;
  submit(when?: "next"): void;
  /** An earlier message is being written anew, or the next one goes on from an earlier block. */
  readonly branch: Branch["how"] | undefined;
  cancelBranch(): void;
  /** A message that waited is in the field again. */
  takeBack(text: string, files: NonNullable<QueuedMark["attachments"]>): void;
}

export function useSending({ conversation, view, agent, attachments }: SendingProps): Sending {
  const session = useSession();
  const [text, setText] = useDraft(conversation);
  const branch = useCell(branches).get(conversation ?? "");
  const canSend = text.trim() !== "" && !attachments.isLoading;
  const submit = (when?: "next") => {
    const prompt = text.trim();
    if (!canSend) return;
    focusPrompt();
    remember(prompt);
    setText(() => "");
    const taken = attachments.take();
    const included = conversation === undefined ? toInclude.get() : [];
    const parent = branch === undefined ? view && wayOf(view) : branch.parent;
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
  const sendAgain = ({ text: prompt, attachments: files, parent }: Resent) => {
    const from = parent === undefined && view ? wayOf(view) : parent;
    const send = (to: ConversationId | undefined) =>
      startTurn(session, { conversation: to, agent, prompt, attachments: files, parent: from });
    post(conversation, { text: prompt, send, end: () => undefined }, () => undefined);
  };
  useResent(conversation, (sent) => {
    const { how, parent } = sent;
    if (how === "send") return sendAgain(sent);
    if (how === "edit") {
      setText(() => sent.text);
      attachments.bring(sent.attachments);
    }
    if (conversation !== undefined && parent !== undefined) enterBranch(conversation, { parent, how });
    focusPrompt();
  });
  return {
    ...{ text, setText, canSend, submit, branch: branch?.how },
    cancelBranch() {
      if (conversation !== undefined) leaveBranch(conversation);
      focusPrompt();
      // Who has only forked has written it for here as well.
      if (branch?.how === "fork") return;
      setText(() => "");
      attachments.take().drop();
    },
    takeBack(back, files) {
      setText((now) => joined(now, back));
      attachments.restore(files);
      focusPrompt();
    },
  };
}

function enterBranch(conversation: ConversationId, branch: Branch): void {
  branches.change((all) => new Map(all).set(conversation, branch));
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
    // One that was taken already is not taken again.
    if (!isOwn || resent.get() !== waiting) return;
    resent.set(undefined);
    take(waiting);
  }, [waiting, isOwn]);
}

/** The end of the way that the reader looks at, where it is not the conversation's own: a prompt goes on from what is seen. */
function wayOf(view: View): BlockId | undefined {
  const seen = headOf(view, heads.get().get(view.conversation));
  return seen === null || seen === view.record?.head ? undefined : seen;
}
