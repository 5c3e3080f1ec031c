/**
 * Where the page is: `/`, `/c/<conversation>` with the block that is pointed at behind `#`, or `/files?path=<path>`. Plain
 * links work; going there inside the page does not load it again.
 */
import { type BlockId, type ConversationId, isConversationId, parseBlockId } from "@blockyard/kernel";
import { useSyncExternalStore } from "react";
import { navigated } from "./elsewhere.ts";

export interface Route {
  readonly conversation: ConversationId | undefined;
  readonly block: BlockId | undefined;
  /** The path of a file of the workspace. */
  readonly file: string | undefined;
}

export function readRoute(path: string, hash: string, search = ""): Route {
  const id = /^\/c\/([^/]+)\/?$/.exec(path)?.[1];
  const conversation = id !== undefined && isConversationId(id) ? id : undefined;
  const pointed = decoded(hash.replace(/^#/, ""));
  const inside = parseBlockId(pointed) ? pointed : `${conversation}/${pointed}`;
  const block = conversation !== undefined && parseBlockId(inside)?.conversation === conversation;
  const file = path === "/files" ? new URLSearchParams(search).get("path") || undefined : undefined;
  return { conversation, block: block ? inside : undefined, file };
}

/** The link to a conversation or one of its blocks; the block's part is what follows the conversation in its id. */
export function linkTo(conversation: ConversationId, block?: BlockId): string {
  const hash = block?.startsWith(`${conversation}/`) ? `#${block.slice(conversation.length + 1)}` : "";
  return `/c/${conversation}${hash}`;
}

/** The link to a file of the workspace. */
export function linkToFile(path: string): string {
  return `/files?path=${encodeURIComponent(path)}`;
}

export function go(path: string): void {
  if (path === location.pathname + location.search + location.hash) return;
  history.pushState(null, "", path);
  tell();
}

const listeners = new Set<() => void>();
let current: Route | undefined;

export function useRoute(): Route {
  return useSyncExternalStore(listenRoute, () => {
    current ??= readRoute(location.pathname, location.hash, location.search);
    return current;
  });
}

export function listenRoute(listener: () => void): () => void {
  if (listeners.size === 0) {
    addEventListener("popstate", tell);
    addEventListener("hashchange", tell);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    removeEventListener("popstate", tell);
    removeEventListener("hashchange", tell);
  };
}

function tell(): void {
  current = undefined;
  navigated();
  for (const listener of [...listeners]) listener();
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
