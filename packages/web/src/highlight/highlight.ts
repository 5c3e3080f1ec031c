/**
 * Colours for source text: asks the worker, keeps its answers. The worker starts with the first text that needs it;
 * until it answers, and where it cannot, text is shown plain.
 */

import { latency } from "@blockyard/kernel";
import { useEffect, useMemo, useSyncExternalStore } from "react";
import { COLOURED_CHARS, KEPT_TEXTS } from "./limits.ts";
import type { HighlightAnswer, HighlightRequest, LineTokens } from "./message.ts";

/** How often a text that grows is coloured again. */
const GROWING_MS = latency.colourMs;

interface Kept {
  lines: readonly LineTokens[];
  readonly listeners: Set<() => void>;
  timer: ReturnType<typeof setTimeout> | undefined;
  asked: string;
  /** The current text; it is requested when its time has come. */
  latest: string;
}

const kept = new Map<string, Kept>();
let worker: Worker | undefined;

/** The colours of a text's lines, as far as known. `name` is the same for a text as it grows. */
export function useHighlight(
  name: string,
  grammar: string | undefined,
  text: string,
  isGrowing: boolean,
): readonly LineTokens[] | undefined {
  const key = `${grammar}:${name}`;
  const entry = useMemo(() => (grammar === undefined ? undefined : keep(key)), [key, grammar]);
  const listen = useMemo(() => {
    return (listener: () => void) => {
      entry?.listeners.add(listener);
      return () => entry?.listeners.delete(listener);
    };
  }, [entry]);
  useEffect(() => {
    if (entry === undefined || grammar === undefined || text.length > COLOURED_CHARS || entry.asked === text)
      return;
    const ask = () => {
      clearTimeout(entry.timer);
      entry.timer = undefined;
      entry.asked = entry.latest;
      const request: HighlightRequest = { name: key, grammar, text: entry.latest };
      start().postMessage(request);
    };
    entry.latest = text;
    // At a rate: what grows without a pause is coloured as it grows.
    if (!isGrowing) ask();
    else entry.timer ??= setTimeout(ask, GROWING_MS);
  }, [entry, key, grammar, text, isGrowing]);
  return useSyncExternalStore(listen, () => entry?.lines);
}

/** The colours of a text that is followed from outside of React. */
export interface Colours {
  /** As far as known; of the last answered text. */
  lines(): readonly LineTokens[];
  ask(text: string): void;
  stop(): void;
}

export function followColours(name: string, grammar: string, told: () => void): Colours {
  const key = `${grammar}:${name}`;
  const entry = keep(key);
  entry.listeners.add(told);
  return {
    lines: () => entry.lines,
    ask(text) {
      if (text.length > COLOURED_CHARS) return;
      entry.asked = text;
      const request: HighlightRequest = { name: key, grammar, text };
      start().postMessage(request);
    },
    stop: () => entry.listeners.delete(told),
  };
}

function keep(key: string): Kept {
  const entry = kept.get(key) ?? { lines: [], listeners: new Set(), timer: undefined, asked: "", latest: "" };
  kept.delete(key);
  kept.set(key, entry);
  for (const [old, { listeners }] of kept) {
    if (kept.size <= KEPT_TEXTS) break;
    if (listeners.size === 0) kept.delete(old);
  }
  return entry;
}

function start(): Worker {
  if (worker) return worker;
  worker = new Worker(new URL("./highlight.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = (event: MessageEvent<HighlightAnswer>) => {
    const { name, from, lines } = event.data;
    const entry = kept.get(name);
    if (!entry) return;
    entry.lines = [...entry.lines.slice(0, from), ...lines];
    for (const listener of [...entry.listeners]) listener();
  };
  return worker;
}
