/**
 * What a document shows of a conversation: its blocks in their order, with their kinds, states and places, what is gathered, and
 * the texts that are not closed. Read from the page and from an exported file alike, so that both can be compared: as they are at
 * first, and with everything open. `read` runs in the browser and uses nothing from outside of itself.
 */
import type { Page } from "playwright-core";

export interface Shown {
  /** One line per block: `id kind status place`; one per footer of a turn, per speaker, and for what is gathered. */
  readonly outline: readonly string[];
  /** By block: its texts, named, without what only one of the two documents says. */
  readonly texts: Readonly<Record<string, readonly string[]>>;
}

/** The named texts of a block, and where the page and an export have them. */
const PARTS: readonly (readonly [name: string, page: string, exported: string])[] = [
  ["said", ".md", ".said, .report, .thought"],
  ["notice", ".notice-name", ".notice-name"],
  ["noticed", ".notice-text", ".notice-text"],
  ["thinking", ".thinking-word", ".thinking-word"],
  ["preview", ".thinking-preview", ".thinking-preview"],
  ["name", ".tool-name", ".tool-name"],
  ["params", ".tool-params", ".tool-params"],
  ["short", ".tool-short", ".tool-short"],
  ["counts", ".tool-line .counts", ".tool-line .counts"],
  ["bad", ".tool-line .state.bad", ".tool-line .bad"],
  ["error", ".tool-error, .error-message", ".tool-error, .error"],
  ["command", ".command-line code", ".command code"],
  ["terminal", ".terminal:not(.excerpt .terminal)", ".terminal"],
  [
    "exit",
    ".command-foot .ok, .command-foot .bad, .command-foot .warn",
    ".foot .ok, .foot .bad, .foot .warn",
  ],
  ["cwd", ".cwd", ".cwd"],
  ["path", ".file-path", ".head code"],
  ["range", ".result-head > .dim", ".head > .dim"],
  [
    "code",
    ".result pre.code, .result pre.plain",
    "pre.plain, .numbered pre.code, .head ~ pre.code, .payload > pre.code",
  ],
  ["change", ".change-kind", ".change-kind"],
  ["changed", ".result-head .counts", ".change .head .counts"],
  ["diff", ".diff-row:not(.hunk):not(.note) .src", ".diff .src"],
  ["todo", ".todo li > span:last-child", ".todo li > span:last-child"],
  ["collapsed", ".collapse-line", "details.collapse > summary"],
  ["excerpt", ".excerpt", ".excerpt"],
  ["unknown", ".unknown code", ".unknown > summary code"],
  ["pictures", "img.picture", "img.picture"],
  ["sources", ".citations li > a, .citations li > span:first-child", ".sources li"],
  ["reason", ".reason", ".reason"],
];

/** The texts that both have word for word once everything is open; what stands around them belongs to each. */
const CONTENT = new Set("said noticed terminal code diff todo error pictures sources excerpt".split(" "));

/** What is left of it when everything is open. What a call was asked is shown by each in its own way. */
export function contentOf({ outline, texts }: Shown): Shown {
  const calls = new Set(
    outline.filter((line) => line.includes(" tool_call ")).map((line) => line.split(" ")[0]),
  );
  const kept = Object.entries(texts).flatMap(([id, parts]) => {
    if (calls.has(id)) return [];
    const content = parts.filter((part) => CONTENT.has(part.slice(0, part.indexOf(":"))));
    return [[id, content.map((part) => part.slice(part.indexOf(":") + 2))] as const];
  });
  return { outline: outline.filter((line) => !line.startsWith("gathered")), texts: Object.fromEntries(kept) };
}

export function shownOnPage(page: Page): Promise<Shown> {
  return page.evaluate(
    read,
    PARTS.map(([name, selector]) => [name, selector] as const),
  );
}

export function shownInExport(page: Page): Promise<Shown> {
  return page.evaluate(
    read,
    PARTS.map(([name, , selector]) => [name, selector] as const),
  );
}

function read(parts: readonly (readonly [string, string])[]): Shown {
  const outline: string[] = [];
  const texts: Record<string, readonly string[]> = {};
  const LEFT_OUT = ".icon-button, .fence-head, svg, .host, .snippet, .gutter, .sr-only, .sign";
  const clean = (element: Element): string => {
    if (element instanceof HTMLImageElement) return `picture of ${element.src.length}`;
    const copy = element.cloneNode(true) as Element;
    for (const other of copy.querySelectorAll(LEFT_OUT)) other.remove();
    // A formula is typeset on the page and as it was written in an export.
    for (const math of copy.querySelectorAll<HTMLElement>(".math[data-source]"))
      math.textContent = math.dataset["source"] ?? "";
    return (copy.textContent ?? "").replace(/\s+/g, " ").trim();
  };
  // What stands for something long is gone once that is open. The line of a call that asks is hidden on the page: its card says the same.
  const isHidden = (element: Element): boolean =>
    element.checkVisibility?.() === false && !element.closest(".tool:has(> .agent-ask.open) > .tool-line");
  const isClosed = (element: Element, root: Element): boolean => {
    const above = (from: Element) => from.parentElement?.closest("details:not([open])");
    for (let details = above(element); details && root.contains(details); details = above(details))
      if (!details.querySelector(":scope > summary")?.contains(element)) return true;
    return false;
  };
  const every = "[data-block], footer.turn, .gathered-words, .speaker";
  for (const element of document.querySelectorAll<HTMLElement>(every)) {
    const { block, kind, status, depth } = element.dataset;
    if (isClosed(element, document.body)) continue;
    if (block === undefined) {
      const words = clean(element).replace(/ · [\d.]+ (ms|s|min|h).*$/, "");
      const isSpeaker = element.matches(".speaker");
      const side = element.matches(".speaker-person") ? "person" : "agent";
      outline.push(isSpeaker ? `speaker ${side}` : element.matches(".turn") ? "turn" : `gathered ${words}`);
      continue;
    }
    const place =
      depth === undefined
        ? `in ${element.dataset["call"] ?? element.parentElement?.closest<HTMLElement>("[data-block]")?.dataset["block"]}`
        : `at ${depth}`;
    outline.push(`${block} ${kind} ${status} ${place}`);
    texts[block] = parts.flatMap(([name, selector]) => {
      const own = [...element.querySelectorAll(selector)].filter(
        (part) => part.closest("[data-block]") === element && !isClosed(part, element) && !isHidden(part),
      );
      const found = own.map(clean).filter((text) => text !== "");
      return found.length === 0 ? [] : [`${name}: ${found.join(" ")}`];
    });
  }
  return { outline, texts };
}
