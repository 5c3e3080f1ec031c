/**
 * A page with nothing but one markdown renderer in it, for the bench: ours, or one of those that others use. It is
 * given a text and lets it grow, as a stream does, telling the renderer once per frame. Never part of the product.
 */
import { Text } from "@blockyard/kernel";
import { createElement, memo, type ReactNode, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import ReactMarkdown from "react-markdown";
import remarkGfm from "remark-gfm";
import { Streamdown } from "streamdown";
import { Markdown } from "../../packages/web/src/markdown/markdown.tsx";

const PLUGINS = [remarkGfm];

/** How each receives a text that is still being written. */
const RENDERERS: Readonly<Record<string, (props: { text: Text }) => ReactNode>> = {
  ours: ({ text }) => createElement(Markdown, { text, isGrowing: true, isAppendOnly: true }),
  "react-markdown": ({ text }) => createElement(ReactMarkdown, { remarkPlugins: PLUGINS }, text.toString()),
  streamdown: ({ text }) => createElement(Streamdown, null, text.toString()),
};

let text = Text.of("");
let tell = (): void => {};
let isTold = true;

/** Called by the bench: more text has come. */
function grow(piece: string): void {
  text = text.append(piece);
  if (!isTold) return;
  isTold = false;
  requestAnimationFrame(() => {
    isTold = true;
    tell();
  });
}

const App = memo(function App({ name }: { name: string }): ReactNode {
  const [shown, show] = useState(text);
  useEffect(() => {
    tell = () => show(text);
    tell();
  }, []);
  return createElement(RENDERERS[name] ?? (() => "no such renderer"), { text: shown });
});

const name = new URLSearchParams(location.search).get("renderer") ?? "";
Object.assign(window, { grow });
createRoot(document.body.appendChild(document.createElement("main"))).render(createElement(App, { name }));
