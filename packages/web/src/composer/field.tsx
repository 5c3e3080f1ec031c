/**
 * The field of the composer: it grows with its text, completes commands and mentions, goes back through earlier
 * prompts, and accepts pasted content. The composer sends it.
 */

import {
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { soughtFirst, waitingAsk } from "../rows/shown-asks.ts";
import { isComposing } from "../ui/composing.ts";
import type { AgentCommand } from "./agents.ts";
import { type Completed, completed, mentionOf, triggerAt, withoutTrigger } from "./completion.ts";
import { CompletionList } from "./completion-list.tsx";
import { promptCount, recalled } from "./history.ts";
import { MEASURED_CHARS } from "./limits.ts";
import { type Suggestion, useSuggestions } from "./suggestions.ts";

interface FieldProps {
  readonly text: string;
  readonly onText: (text: string) => void;
  readonly placeholder: string;
  readonly commands: readonly AgentCommand[];
  /** A command is about to be completed. */
  readonly onCommands: () => void;
  readonly onSubmit: (isNow: boolean) => void;
  readonly onFiles: (files: Iterable<File>) => void;
  /** Backspace in an empty field. */
  readonly onErase: () => void;
  readonly onIncludeFile: (path: string) => void;
  readonly onIncludeBlock: (block: string) => void;
}

export function Field(props: FieldProps): ReactNode {
  const { text, onText, placeholder, commands, onSubmit, onFiles, onErase } = props;
  const field = useRef<HTMLTextAreaElement>(null);
  const [caret, setCaret] = useState(text.length);
  useGrowth(field, text);
  useAskedFor(text.startsWith("/") && commands.length === 0, props.onCommands);
  const recall = useRecall(onText);
  const completion = useCompletion(props, field, caret, setCaret);
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (isComposing(event.nativeEvent) || completion.onKey(event)) return;
    if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      onSubmit(event.ctrlKey || event.metaKey);
    }
    if (event.key === "Escape") leaveField(event.currentTarget);
    turnPages(event);
    if (event.key === "Backspace" && event.currentTarget.value === "") onErase();
    recall(event);
  };
  return (
    <div className="field">
      {completion.list}
      <textarea
        ref={field}
        value={text}
        rows={1}
        placeholder={placeholder}
        aria-label="Prompt"
        aria-autocomplete="list"
        {...completion.aria}
        dir="auto"
        onChange={(event) => {
          onText(event.target.value);
          setCaret(event.target.selectionEnd);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionEnd)}
        onFocus={completion.open}
        onBlur={completion.close}
        onKeyDown={onKey}
        onPaste={(event) => {
          if (event.clipboardData.files.length === 0) return;
          event.preventDefault();
          onFiles([...event.clipboardData.files]);
        }}
      />
    </div>
  );
}

/** How long after the first time it is asked again. */
const AGAIN_MS = [500, 1_000, 2_000, 4_000, 8_000, 16_000] as const;

/** Asks while something is wanted: an agent may tell its commands only a while after its start. */
function useAskedFor(isWanted: boolean, ask: () => void): void {
  const latest = useRef(ask);
  latest.current = ask;
  useEffect(() => {
    if (!isWanted) return;
    latest.current();
    const timers = AGAIN_MS.map((ms) => setTimeout(() => latest.current(), ms));
    return () => timers.forEach(clearTimeout);
  }, [isWanted]);
}

/** To what waits for an answer, where something does; else to the keys of the blocks. */
function leaveField(field: HTMLElement): void {
  field.blur();
  if (!soughtFirst(waitingAsk.get())) document.querySelector<HTMLElement>(".agent-ask.open")?.focus();
}

/** As high as what is written, up to what the style allows. */
function useGrowth(field: { readonly current: HTMLTextAreaElement | null }, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: whenever the text changes
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    if (text.length > MEASURED_CHARS) {
      element.style.height = "100vh";
      return;
    }
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text]);
}

interface Completion {
  readonly list: ReactNode;
  readonly aria: Record<string, string | undefined>;
  readonly open: () => void;
  readonly close: () => void;
  /** Whether the key was its own. */
  readonly onKey: (event: KeyboardEvent<HTMLTextAreaElement>) => boolean;
}

function useCompletion(
  { text, onText, commands, onIncludeFile, onIncludeBlock }: FieldProps,
  field: { readonly current: HTMLTextAreaElement | null },
  caret: number,
  setCaret: (caret: number) => void,
): Completion {
  const id = useId();
  const [walked, setWalked] = useState({ name: "", at: 0 });
  /** What was closed with Escape stays closed until another one is begun. */
  const [closed, setClosed] = useState<number | undefined>(undefined);
  const trigger = triggerAt(text, caret);
  const items = useSuggestions(trigger, commands);
  const isShown = trigger !== undefined && trigger.from !== closed && items.length > 0;
  const name = `${trigger?.kind} ${trigger?.query}`;
  const at = Math.min(walked.name === name ? walked.at : 0, Math.max(0, items.length - 1));
  const put = (next: Completed) => {
    // At once: the next letter may come before the next frame.
    flushSync(() => {
      onText(next.text);
      setCaret(next.caret);
    });
    field.current?.setSelectionRange(next.caret, next.caret);
  };
  const choose = (item: Suggestion, isIncluded = false) => {
    if (trigger === undefined) return;
    if (item.type === "command") return put(completed(text, trigger, `/${item.command.name}`));
    if (item.type === "file" && !isIncluded) return put(completed(text, trigger, mentionOf(item.path)));
    put(withoutTrigger(text, trigger));
    if (item.type === "file") onIncludeFile(item.path);
    else onIncludeBlock(item.block);
  };
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>): boolean => {
    if (!isShown) {
      if (closed !== undefined && trigger?.from !== closed) setClosed(undefined);
      return false;
    }
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    const item = items[at];
    if (step !== 0) setWalked({ name, at: (at + step + items.length) % items.length });
    else if (event.key === "Escape") setClosed(trigger.from);
    else if ((event.key === "Enter" || event.key === "Tab") && item !== undefined) {
      // A command that is typed out is sent, not completed to itself.
      const isWhole = item.type === "command" && item.command.name === trigger.query;
      if (isWhole && event.key === "Enter") return false;
      choose(item, event.shiftKey);
    } else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  };
  return {
    onKey,
    open: () => setClosed(undefined),
    close: () => trigger && setClosed(trigger.from),
    aria: isShown ? { "aria-controls": id, "aria-activedescendant": `${id}-${at}` } : {},
    list: isShown && (
      <CompletionList
        id={id}
        label={trigger.kind === "command" ? "Commands" : "Files"}
        items={items}
        at={at}
        onChoose={(item) => choose(item)}
      />
    ),
  };
}

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
function useRecall(onText: (text: string) => void): (event: KeyboardEvent<HTMLTextAreaElement>) => void {
  const at = useRef(0);
  return (event) => {
    const { value, selectionStart } = event.currentTarget;
    const isAtEdge = event.key === "ArrowUp" ? selectionStart === 0 || at.current > 0 : at.current > 0;
    const isRecalled = value === "" || value === recalled(at.current);
    if ((event.key !== "ArrowUp" && event.key !== "ArrowDown") || !isAtEdge || !isRecalled) {
      if (event.key.length === 1) at.current = 0;
      return;
    }
    event.preventDefault();
    at.current = Math.min(promptCount(), Math.max(0, at.current + (event.key === "ArrowUp" ? 1 : -1)));
    onText(recalled(at.current) ?? "");
  };
}
