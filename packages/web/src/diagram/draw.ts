/**
 * Draws one diagram after the other, each in a frame of its own that is removed afterwards. The frame has no origin and no
 * network, and nothing that it sends is believed: see drawing.ts. It has a deadline; a frame that misses it is removed with
 * whatever it is at.
 */

import { imageOf } from "./drawing.ts";
import { inPlainWords } from "./error-words.ts";
import { FRAME_URL } from "./frame-url.ts";
import { DRAWING_MS, MAX_SOURCE_CHARS } from "./limits.ts";
import type { Drawn, DrawRequest } from "./message.ts";

export type Drawing =
  | { readonly url: string; readonly width: number; readonly height: number }
  | { readonly error: string };

/** Mermaid's names for the colours of the page. */
const COLORS: Readonly<Record<string, string>> = {
  background: "--sunk",
  mainBkg: "--raised",
  primaryColor: "--raised",
  primaryTextColor: "--text",
  primaryBorderColor: "--faint",
  secondaryColor: "--brand-soft",
  secondaryTextColor: "--text",
  secondaryBorderColor: "--brand",
  tertiaryColor: "--hover",
  tertiaryTextColor: "--text",
  tertiaryBorderColor: "--line-strong",
  noteBkgColor: "--needs-soft",
  noteTextColor: "--text",
  noteBorderColor: "--needs-line",
  lineColor: "--dim",
  textColor: "--text",
  titleColor: "--text",
  edgeLabelBackground: "--sunk",
};

let last: Promise<unknown> = Promise.resolve();

/** @param place An element in whose theme it is drawn. */
export function drawDiagram(source: string, isDark: boolean, place: HTMLElement): Promise<Drawing> {
  if (source.length > MAX_SOURCE_CHARS) return Promise.resolve({ error: tooLong(source) });
  const request = { source, isDark, colors: colorsAt(place) };
  const drawing = last.then(() => drawInFrame(request)).then((drawn) => shownAs(drawn, source));
  last = drawing.catch(() => {});
  return drawing;
}

function shownAs(drawn: Drawn, source: string): Drawing {
  if ("error" in drawn) return { error: inPlainWords(drawn.error, source) };
  return imageOf(drawn) ?? { error: inPlainWords("it is too large to show", source) };
}

function drawInFrame(request: DrawRequest): Promise<Drawn> {
  return new Promise((done) => {
    const frame = document.createElement("iframe");
    const end = (drawn: Drawn) => {
      clearTimeout(timer);
      removeEventListener("message", receive);
      frame.remove();
      done(drawn);
    };
    const receive = ({ source, data }: MessageEvent<unknown>) => {
      if (source !== frame.contentWindow) return;
      // Without an origin it cannot be addressed by one. Nothing but our own document can be in it: `frame-src 'self'`.
      if (data === "ready") frame.contentWindow?.postMessage(request, "*");
      else end(isDrawn(data) ? data : { error: "nothing was drawn" });
    };
    const timer = setTimeout(
      () => end({ error: `it took longer than ${DRAWING_MS / 1_000} seconds` }),
      DRAWING_MS,
    );
    addEventListener("message", receive);
    frame.setAttribute("sandbox", "allow-scripts");
    frame.className = "diagram-frame";
    frame.tabIndex = -1;
    frame.ariaHidden = "true";
    frame.src = FRAME_URL;
    document.body.append(frame);
  });
}

function isDrawn(data: unknown): data is Drawn {
  const { svg, css, error } = (data ?? {}) as Record<string, unknown>;
  return typeof error === "string" || (typeof svg === "string" && typeof css === "string");
}

/** The theme's current colours at the diagram; a row that has left the screen meanwhile has none. */
function colorsAt(place: HTMLElement): DrawRequest["colors"] {
  const home = place.isConnected ? place : document.body;
  const probe = home.appendChild(document.createElement("span"));
  const colors = Object.entries(COLORS).map(([name, property]) => {
    probe.style.color = `var(${property})`;
    return [name, getComputedStyle(probe).color];
  });
  probe.remove();
  return Object.fromEntries(colors);
}

function tooLong(source: string): string {
  const [is, most] = [source.length, MAX_SOURCE_CHARS].map((count) => count.toLocaleString("en"));
  return `Couldn't draw the diagram: it has ${is} characters, and the limit is ${most}.`;
}
