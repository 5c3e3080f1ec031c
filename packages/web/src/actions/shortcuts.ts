/** The keyboard: one table of keys, their labels and actions. The help page shows the same table. */
import type { BlockId, View } from "@blockyard/kernel";
import { useEffect } from "react";
import { isOpen, setOpen } from "../state/disclosure.ts";
import { listenPresses } from "../state/elsewhere.ts";
import { isField, isInvited, listenInvited } from "../state/invitation.ts";
import {
  dismiss,
  editing,
  focused,
  inspected,
  isFinding,
  isFollowing,
  notices,
  overlay,
  renaming,
} from "../state/page-state.ts";
import { togglePaneVisit } from "../state/pane.ts";
import { readRoute } from "../state/route.ts";
import { type Session, useSession } from "../state/session.tsx";
import { isComposing } from "../ui/composing.ts";
import type { IconName } from "../ui/icons.tsx";
import { showSidebar, toggleSidebar } from "../ui/sidebar-toggle.tsx";
import { askRerun, copyBlock, editBlock, forkAt, prune, undo } from "./actions.ts";
import { undoLast } from "./my-edits.ts";

interface Shortcut {
  readonly key: string;
  readonly label: string;
  readonly ctrl?: true;
  /** Not for viewers. */
  readonly writes?: true;
  /** The condition for it to work. */
  readonly needs?: "conversation" | "block";
  /** Its name in the palette. */
  readonly icon?: IconName;
  /** It moves by one: in the palette only when searched for. */
  readonly isStep?: true;
  readonly run: (session: Session) => void;
}

const SHORTCUTS: readonly Shortcut[] = [
  { key: "j", label: "Next block", icon: "down", isStep: true, needs: "conversation", run: () => step(1) },
  {
    key: "k",
    label: "Previous block",
    icon: "send",
    isStep: true,
    needs: "conversation",
    run: () => step(-1),
  },
  {
    key: "o",
    label: "Open or close the block",
    icon: "expand",
    isStep: true,
    needs: "block",
    run: () => toggleFocused(),
  },
  {
    key: "ArrowRight",
    label: "Open the block",
    icon: "expand",
    isStep: true,
    needs: "block",
    run: () => disclose(true),
  },
  {
    key: "ArrowLeft",
    label: "Close the block",
    icon: "collapse",
    isStep: true,
    needs: "block",
    run: () => disclose(false),
  },
  {
    key: "e",
    label: "Edit the block",
    icon: "edit",
    needs: "block",
    writes: true,
    run: (session) => withFocused(session, editBlock),
  },
  {
    key: "f",
    label: "Fork here",
    icon: "fork",
    needs: "block",
    writes: true,
    run: (session) => withFocused(session, (block) => void forkAt(session, block)),
  },
  {
    key: "c",
    label: "Copy the block",
    icon: "copy",
    needs: "block",
    run: (session) => withFocused(session, (block) => void copyBlock(session, block)),
  },
  {
    key: "p",
    label: "Exclude from context, or include",
    icon: "prune",
    needs: "block",
    writes: true,
    run(session) {
      focusedRow()?.querySelector<HTMLElement>(".put-back")?.click();
      withFocused(session, (block) => void prune(session, block.id, !block.pruned));
    },
  },
  {
    key: "u",
    label: "Undo my last edit of the block",
    icon: "undo",
    needs: "block",
    writes: true,
    run: (session) => withFocused(session, (block) => void undo(session, block.id, "undo")),
  },
  {
    key: "r",
    label: "Redo my last edit of the block",
    icon: "redo",
    needs: "block",
    writes: true,
    run: (session) => withFocused(session, (block) => void undo(session, block.id, "redo")),
  },
  {
    key: "E",
    label: "Open the block's file in the editor",
    icon: "file",
    needs: "block",
    run: () => openFile(),
  },
  {
    key: "x",
    label: "Run the block's command again",
    icon: "redo",
    needs: "block",
    writes: true,
    run: (session) => withFocused(session, (block) => askRerun(session, block)),
  },
  {
    key: "i",
    label: "Block details and history",
    icon: "history",
    needs: "block",
    run: () => inspected.change((now) => (now === undefined ? focused.get() : undefined)),
  },
  {
    key: "t",
    label: "Rename the conversation",
    icon: "edit",
    needs: "conversation",
    writes: true,
    run: () => renameCurrent(),
  },
  { key: "G", label: "Jump to latest", icon: "down", needs: "conversation", run: () => toEnd() },
  {
    key: "n",
    label: "Write a prompt",
    icon: "turns",
    writes: true,
    run: () => document.querySelector<HTMLElement>(".composer textarea")?.focus(),
  },
  {
    key: "a",
    label: "Attach files to the prompt",
    icon: "clip",
    writes: true,
    run: () => document.querySelector<HTMLElement>(".composer .attach")?.click(),
  },
  { key: "/", label: "Search everything", icon: "search", run: () => overlay.set({ type: "search" }) },
  {
    key: "O",
    label: "Open a file",
    icon: "file",
    writes: true,
    run: () => overlay.set({ type: "open-file" }),
  },
  {
    key: "f",
    ctrl: true,
    label: "Find in this conversation",
    icon: "search",
    needs: "conversation",
    run: () => isFinding.set(true),
  },
  {
    key: "z",
    ctrl: true,
    label: "Undo my last edit anywhere",
    icon: "undo",
    needs: "conversation",
    writes: true,
    run: (session) => {
      if (!undoNotice()) void undoLast(session, "undo");
    },
  },
  {
    key: "Z",
    ctrl: true,
    label: "Redo my last edit anywhere",
    icon: "redo",
    needs: "conversation",
    writes: true,
    run: (session) => void undoLast(session, "redo"),
  },
  {
    key: "y",
    ctrl: true,
    label: "Redo my last edit anywhere",
    icon: "redo",
    needs: "conversation",
    writes: true,
    run: (session) => void undoLast(session, "redo"),
  },
  { key: "k", ctrl: true, label: "Commands", run: () => overlay.set({ type: "palette" }) },
  { key: "[", label: "Show or hide the sidebar", icon: "sidebar", run: () => toggleSidebar() },
  { key: "]", label: "Show or hide the side pane", icon: "panel", run: () => togglePaneVisit() },
  { key: "s", label: "Go to the conversation list", icon: "list", run: () => toList() },
  { key: "?", label: "Keyboard shortcuts", icon: "question", run: () => overlay.set({ type: "help" }) },
  { key: "Escape", label: "Close or cancel", run: () => close() },
];

/** The keys that do something for this reader. */
export function shortcutsFor(session: Session): readonly Shortcut[] {
  return session.isViewer ? SHORTCUTS.filter(({ writes }) => !writes) : SHORTCUTS;
}

export function useShortcuts(): void {
  const session = useSession();
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const isCtrl = event.ctrlKey || event.metaKey;
      if (event.defaultPrevented || event.altKey || overlay.get() !== undefined) return;
      if (isComposing(event)) return;
      // An open menu has the keys to itself: Escape closes it, and no letter reaches the block under it.
      if (document.querySelector("[popover]:popover-open")) return;
      if (!isTyping(event) && isInvited(event)) return;
      const shortcut = shortcutsFor(session).find(
        ({ key, ctrl }) => key === keyOf(event, isCtrl) && (ctrl ?? false) === isCtrl,
      );
      if (!shortcut || (isTyping(event) && !isCtrl)) return;
      if (shortcut.key.startsWith("Arrow") && !isOnRow(event)) return;
      // Also while a conversation is still opening: then it searches as soon as it is loaded.
      if (shortcut.ctrl && shortcut.key === "f" && !document.querySelector("main.conversation")) return;
      // In a field with text these keys are the field's; an empty one has nothing to undo.
      if (/^[zy]$/i.test(shortcut.key) && shortcut.ctrl && isWritten(event)) return;
      event.preventDefault();
      shortcut.run(session);
    };
    addEventListener("keydown", onKey);
    const stops = [listenInvited(), listenPresses()];
    return () => {
      removeEventListener("keydown", onKey);
      for (const stop of stops) stop();
    };
  }, [session]);
}

/** Arrows belong to a row, not to what scrolls or is chosen inside of it. */
function isOnRow({ target }: KeyboardEvent): boolean {
  const row = (target as Element | null)?.closest?.("article[data-row]");
  if (!row) return target === document.body && focused.get() !== undefined;
  return target === row || (target as Element).closest("button[aria-expanded]") !== null;
}

/** With Ctrl, Shift decides which letter is meant, whatever Caps Lock does. */
function keyOf({ key, shiftKey }: KeyboardEvent, isCtrl: boolean): string {
  if (!isCtrl || key.length !== 1) return key;
  return shiftKey ? key.toUpperCase() : key.toLowerCase();
}

function isWritten(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement) || !isField(target)) return false;
  return !(target instanceof HTMLTextAreaElement && target.value === "" && target.closest(".composer"));
}

function isTyping(event: KeyboardEvent): boolean {
  const [target] = event.composedPath();
  if (!(target instanceof HTMLElement)) return false;
  if (event.key === "Escape")
    return target.closest(".find, .composer, dialog") !== null || target.isContentEditable;
  return isField(target);
}

/** The rows of the list, in order, are known by the list itself; it answers to this. */
export const rowOrder: { ids: readonly BlockId[] } = { ids: [] };

function step(by: number): void {
  const { ids } = rowOrder;
  if (ids.length === 0) return;
  const now = focused.get();
  const at = now === undefined ? -1 : ids.indexOf(now);
  const visible = at === -1 ? firstVisible(ids) : at + by;
  const next = ids[Math.min(ids.length - 1, Math.max(0, visible))];
  isFollowing.set(false);
  focused.set(next);
}

/** Without a focused block the first visible one gets the focus. */
function firstVisible(ids: readonly BlockId[]): number {
  const top = document.querySelector(".list")?.getBoundingClientRect().top ?? 0;
  const shown = [...document.querySelectorAll<HTMLElement>("article[data-row]")].find(
    (article) => article.getBoundingClientRect().bottom > top + 8,
  );
  return Math.max(0, ids.indexOf(shown?.dataset["row"] ?? ""));
}

function focusedRow(): HTMLElement | null {
  return document.querySelector<HTMLElement>(`article[data-row="${CSS.escape(focused.get() ?? "")}"]`);
}

function disclosuresOf(row: HTMLElement): readonly HTMLElement[] {
  return [...row.querySelectorAll<HTMLElement>("button[aria-expanded]:not([aria-haspopup])")];
}

/** Opens the first collapsed part of the focused row; closes the first open one, or its group. */
function disclose(isOpening: boolean): void {
  const row = focusedRow();
  if (!row) return;
  const disclosure = disclosuresOf(row).find(
    (each) => (each.getAttribute("aria-expanded") === "false") === isOpening,
  );
  if (disclosure) return disclosure.click();
  if (isOpening || !row.classList.contains("is-part")) return;
  const { ids } = rowOrder;
  const head = ids.slice(0, ids.indexOf(focused.get() ?? "")).findLast((id) => id.startsWith("quiet:"));
  if (head === undefined) return;
  focused.set(head);
  focusedRow()?.querySelector<HTMLElement>("button[aria-expanded=true]")?.click();
}

/** Opens or closes all that the focused row has. */
function toggleFocused(): void {
  const id = focused.get();
  const row = focusedRow();
  if (id === undefined || !row) return;
  const disclosures = disclosuresOf(row);
  const isAnyOpen = disclosures.some((each) => each.getAttribute("aria-expanded") === "true");
  if (disclosures.length === 0) return setOpen(id, !isOpen(id, false));
  for (const each of disclosures)
    if ((each.getAttribute("aria-expanded") === "true") === isAnyOpen) each.click();
}

function openFile(): void {
  const id = focused.get() ?? "";
  document.querySelector<HTMLElement>(`article[data-block="${CSS.escape(id)}"] .file-open`)?.click();
}

function withFocused(
  session: Session,
  run: (block: NonNullable<ReturnType<View["blocks"]["get"]>>) => void,
): void {
  const id = focused.get();
  for (const view of session.replica.views.values()) {
    const block = id === undefined ? undefined : view.blocks.get(id);
    if (block) return run(block);
  }
}

function toEnd(): void {
  isFollowing.set(true);
  const list = document.querySelector(".list");
  if (list) list.scrollTop = list.scrollHeight;
}

/** Its open conversation, or its first one, gets the focus; arrow keys continue from there. */
function toList(): void {
  showSidebar();
  const list = document.querySelector(".conversation-list");
  const open =
    list?.querySelector<HTMLElement>("a.entry.current") ?? list?.querySelector<HTMLElement>("a.entry");
  open?.focus();
}

/** The last action may offer undo at the edge of the page: that has priority over edits, which were earlier. */
function undoNotice(): boolean {
  const offer = notices.get().findLast(({ action }) => action?.isUndo === true);
  if (offer?.action === undefined) return false;
  dismiss(offer.id);
  offer.action.run();
  return true;
}

function renameCurrent(): void {
  const { conversation } = readRoute(location.pathname, location.hash);
  if (conversation !== undefined) renaming.set({ conversation, where: "head" });
}

function close(): void {
  if (editing.get() !== undefined) editing.set(undefined);
  else if (isFinding.get()) isFinding.set(false);
  else inspected.set(undefined);
}
