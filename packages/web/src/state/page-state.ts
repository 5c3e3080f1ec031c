/**
 * The page's current state beyond its address: the focused block, the edited or inspected one, the open overlay, the
 * branch of a conversation. None of it is stored.
 */

import type { BlockId, ConversationId } from "@blockyard/kernel";
import { Cell } from "./cell.ts";
import { NOTICE_MS, READ_CHAR_MS } from "./limits.ts";

/** Between which folders somebody has to choose, and why. */
export interface FolderQuestion {
  readonly why: string;
  readonly folders: readonly string[];
}

/** What acts by itself in a folder, as `trust.show` names it. */
export interface TrustQuestion {
  readonly folder: string;
  readonly digest: string;
  readonly files: readonly { readonly path: string; readonly reason: string; readonly state: string }[];
}

/** What lies over the page; what asks about a block or a conversation says about which. */
export type Overlay =
  | { readonly type: "palette" | "search" | "help" | "open-file" | "audit" | "rules" | "settings" | "costs" }
  | { readonly type: "rerun"; readonly block: BlockId }
  | { readonly type: "merge"; readonly block: BlockId }
  | { readonly type: "delete"; readonly conversation: ConversationId; readonly title: string }
  | {
      readonly type: "folder";
      readonly question: FolderQuestion;
      readonly answer: (folder: string | undefined) => void;
    }
  | {
      readonly type: "trust";
      readonly question: TrustQuestion;
      readonly answer: (isTrusted: boolean) => void;
    }
  | { readonly type: "editor"; readonly path: string | undefined; readonly line: number }
  | undefined;

export const focused = new Cell<BlockId | undefined>(undefined);
export const editing = new Cell<BlockId | undefined>(undefined);
export const inspected = new Cell<BlockId | undefined>(undefined);
export const overlay = new Cell<Overlay>(undefined);
export const isFinding = new Cell(false);
export const isSidebarOpen = new Cell(false);

/** The page goes elsewhere: what was found, written in and looked at there is put away. Edits are saved as they are typed. */
export function leavePlace(): void {
  isFinding.set(false);
  editing.set(undefined);
  inspected.set(undefined);
}

/** The conversation whose title is being written, and where. */
export const renaming = new Cell<
  | {
      readonly conversation: ConversationId;
      readonly where: "head" | "list";
      /** What could not be kept before. */
      readonly written?: string;
    }
  | undefined
>(undefined);
/** Changes in editors that the server has not acknowledged. */
export const unsavedEdits = new Cell(0);
/** Whether the list keeps its end in view. */
export const isFollowing = new Cell(true);
/** Whether the end of the list is on the screen. */
export const isEndShown = new Cell(true);

/** Heads that the reader has chosen, where a conversation goes on in several ways. */
export const heads = new Cell<ReadonlyMap<ConversationId, BlockId>>(new Map());

export function chooseHead(conversation: ConversationId, head: BlockId): void {
  heads.change((chosen) => new Map(chosen).set(conversation, head));
}

/** Back to the conversation's own head. */
export function forgetHead(conversation: ConversationId): void {
  heads.change((chosen) => new Map([...chosen].filter(([id]) => id !== conversation)));
}

interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isBad: boolean;
  /** What can be done about it, as long as it is shown. */
  readonly action?: NoticeAction;
}

interface NoticeAction {
  readonly label: string;
  readonly run: () => void;
  readonly stayMs: number;
  /** Ctrl Z does it too, until something is edited. */
  readonly isUndo?: true;
}

/** Short messages at the edge of the page. */
export const notices = new Cell<readonly Notice[]>([]);
let lastNotice = 0;

export function notify(text: string, isBad = false, action?: NoticeAction): void {
  const notice = { id: ++lastNotice, text, isBad, ...(action === undefined ? {} : { action }) };
  // What offers something to do is not pushed out by what only says something.
  notices.change((shown) => {
    const others = shown.filter((each) => each.action === undefined).slice(-2);
    return [...shown.filter((each) => each.action !== undefined), ...others, notice];
  });
  const stayMs = action?.stayMs ?? Math.max(NOTICE_MS, text.length * READ_CHAR_MS);
  setTimeout(() => dismiss(notice.id), stayMs);
}

/** Something was edited since: Ctrl Z is about that. The offer stays. */
export function leaveUndo(): void {
  if (!notices.get().some(({ action }) => action?.isUndo)) return;
  notices.change((shown) =>
    shown.map((notice) => {
      if (notice.action === undefined) return notice;
      const { isUndo: _earlier, ...action } = notice.action;
      return { ...notice, action };
    }),
  );
}

export function dismiss(id: number): void {
  notices.change((shown) => shown.filter((notice) => notice.id !== id));
}
