/**
 * The browser's notifications: when a conversation begins to need the reader, and when a turn ends. Only if the reader
 * has asked for them and the browser allows it, and not for the conversation on the screen.
 */
import type { News } from "./news.ts";
import { preferences } from "./preferences.ts";
import { go, linkTo } from "./route.ts";

export function canNotify(): "yes" | "no" | "ask" | "never" {
  if (!("Notification" in globalThis)) return "never";
  return { granted: "yes", denied: "no", default: "ask" }[Notification.permission] as "yes" | "no" | "ask";
}

/** Asked by a click only; whether the browser allows it now. */
export async function allowNotifications(): Promise<boolean> {
  if (canNotify() === "ask") await Notification.requestPermission();
  return canNotify() === "yes";
}

export function tell(news: readonly News[], current: string | undefined): void {
  const { notifyNeeds, notifyEnds } = preferences.get();
  if (canNotify() !== "yes") return;
  for (const { id, title, words, type } of news) {
    const isWanted = type === "needs" ? notifyNeeds : notifyEnds;
    const isLookedAt = id === current && document.visibilityState === "visible" && document.hasFocus();
    if (!isWanted || isLookedAt) continue;
    const notification = new Notification(title, { body: words, tag: `${id}:${type}`, icon: "/icon.svg" });
    notification.onclick = () => {
      window.focus();
      go(linkTo(id));
      notification.close();
    };
  }
}
