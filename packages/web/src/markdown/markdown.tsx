/**
 * Markdown on the page: tokens become elements, one by one. No HTML is involved, so no text can become an element by
 * itself: HTML in Markdown is shown as text.
 */
import {
  decodeReferences,
  hostOf,
  namesOtherHost,
  safeImageData,
  safeLink,
  type Text,
} from "@blockyard/kernel";
import type { Token, Tokens } from "marked";
import { type JSX, memo, type ReactNode, useRef, useState } from "react";
import { DiagramFence } from "../diagram/diagram-fence.tsx";
import { CodeFence } from "../highlight/code-fence.tsx";
import { Icon } from "../ui/icons.tsx";
import { later } from "../ui/later.tsx";
import { breakable } from "../ui/long-words.tsx";
import { sizeInData } from "../ui/picture-size.ts";
import { SHORT_CELL_CHARS } from "./limits.ts";
import { type LongParagraph, type Parsed, parseGrowing, parseWhole } from "./parse.ts";

const Formula = later(() => import("./formula.tsx"));
/** Where formulas cannot be typeset, their source is read. */
const staysAsWritten = () => {};

/** Parsed texts that have ended: a row that comes back to the screen is not parsed again. */
const whole = new WeakMap<Text, Parsed>();

interface MarkdownProps {
  readonly text: Text;
  /** It is still being written. */
  readonly isGrowing: boolean;
  /** It has only ever been appended to, so the stable part is still valid. */
  readonly isAppendOnly: boolean;
}

export const Markdown = memo(function Markdown({ text, isGrowing, isAppendOnly }: MarkdownProps) {
  const before = useRef<{ text: Text; parsed: Parsed } | undefined>(undefined);
  const parsed = isGrowing ? grow(before.current, text, isAppendOnly) : ended(text);
  before.current = isGrowing ? { text, parsed } : undefined;
  const isNext = parsed.settled.length > 0 && parsed.tail.length > 0;
  return (
    <div className="md">
      {parsed.settled.map((group, i) => (
        <Group key={i} tokens={group} isFirst={i === 0} />
      ))}
      {isGrowing && (
        <div className={`md-group md-tail${isNext ? " md-next" : ""}`}>
          <Blocks tokens={parsed.tail} isGrowing />
        </div>
      )}
    </div>
  );
});

function grow(before: { text: Text; parsed: Parsed } | undefined, text: Text, isAppendOnly: boolean): Parsed {
  if (before?.text === text) return before.parsed;
  const isContinued = before !== undefined && isAppendOnly && text.length >= before.text.length;
  return parseGrowing(isContinued ? before.parsed : undefined, text);
}

function ended(text: Text): Parsed {
  const known = whole.get(text);
  if (known) return known;
  const parsed = parseWhole(text);
  whole.set(text, parsed);
  return parsed;
}

interface GroupProps {
  readonly tokens: readonly Token[];
  readonly isFirst: boolean;
}

const Group = memo(function Group({ tokens, isFirst }: GroupProps) {
  return (
    <div className={isFirst ? "md-group" : "md-group md-next"}>
      <Blocks tokens={tokens} isGrowing={false} />
    </div>
  );
}, sameTokens);

/** Equal when they would look equal: a text that is lexed again at its end changes nothing on the screen. */
function sameTokens(a: GroupProps, b: GroupProps): boolean {
  if (a.tokens === b.tokens) return true;
  return (
    a.tokens.length === b.tokens.length &&
    a.tokens.every((token, i) => token.type === b.tokens[i]?.type && token.raw === b.tokens[i]?.raw)
  );
}

function Blocks({ tokens, isGrowing }: { tokens: readonly Token[]; isGrowing: boolean }): JSX.Element {
  return (
    <>
      {tokens.map((token, i) => (
        <Block key={i} token={token} isOpen={isGrowing && i === tokens.length - 1} />
      ))}
    </>
  );
}

/** Fences and tables are memoized one by one: they are expensive. */
const Block = memo(
  function Block({ token, isOpen }: { token: Token; isOpen: boolean }): ReactNode {
    return renderBlock(token, isOpen);
  },
  (a, b) =>
    a.isOpen === b.isOpen &&
    a.token.type === b.token.type &&
    a.token.raw === b.token.raw &&
    a.token.type !== "long-paragraph",
);

function renderBlock(token: Token, isOpen: boolean): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading":
      return renderHeading(token as Tokens.Heading);
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "long-paragraph":
      return (
        <p>
          {(token as LongParagraph).parts.map((part, i) => (
            <Sentences key={i} tokens={part} />
          ))}
        </p>
      );
    case "text":
      return token.tokens ? inline(token.tokens) : breakable(decodeReferences(token.text));
    case "code":
      return renderCode(token as Tokens.Code, isOpen);
    case "blockquote":
      return (
        <blockquote dir="auto">
          <Blocks tokens={token.tokens ?? []} isGrowing={isOpen} />
        </blockquote>
      );
    case "list":
      return renderList(token as Tokens.List, isOpen);
    case "table":
      return renderTable(token as Tokens.Table);
    case "hr":
      return <hr />;
    case "math":
      return (
        <p className="math math-block" data-source={token.text}>
          <Formula source={token.text} meanwhile={token.text} onMissing={staysAsWritten} />
        </p>
      );
    case "html":
      return <p className="literal">{breakable(token.text.trimEnd())}</p>;
    default:
      return <p>{inline([token])}</p>;
  }
}

function renderCode({ text, lang }: Tokens.Code, isOpen: boolean): ReactNode {
  const language = languageOf(lang);
  if (language === "mermaid") return <DiagramFence text={text} isOpen={isOpen} />;
  return <CodeFence text={text} language={language} isOpen={isOpen} />;
}

const Sentences = memo(
  function Sentences({ tokens }: { tokens: readonly Token[] }) {
    return <>{inline(tokens)}</>;
  },
  (a, b) => a.tokens === b.tokens,
);

/** Headings of a block's text rank below the page's own. */
function renderHeading(token: Tokens.Heading): ReactNode {
  const level = Math.min(6, token.depth + 2) as 3 | 4 | 5 | 6;
  const Tag = `h${level}` as const;
  return <Tag className={`md-h${token.depth}`}>{inline(token.tokens)}</Tag>;
}

function renderList(token: Tokens.List, isOpen: boolean): ReactNode {
  const items = token.items.map((item, i) => (
    <li key={i} className={item.task ? "task" : undefined}>
      {item.tokens.map((inner, j) =>
        inner.type === "checkbox" ? (
          <input
            key={j}
            type="checkbox"
            checked={inner.checked}
            disabled
            readOnly
            aria-label={inner.checked ? "done" : "not done"}
          />
        ) : (
          <Block
            key={j}
            token={inner}
            isOpen={isOpen && i === token.items.length - 1 && j === item.tokens.length - 1}
          />
        ),
      )}
    </li>
  ));
  const start = typeof token.start === "number" ? token.start : undefined;
  return token.ordered ? (
    <ol start={start} dir="auto">
      {items}
    </ol>
  ) : (
    <ul dir="auto">{items}</ul>
  );
}

function renderTable(token: Tokens.Table): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="md-table" tabIndex={0} aria-label="table" dir="auto">
      <table>
        <thead>
          <tr>{token.header.map((cell, i) => renderCell(cell, i, "th"))}</tr>
        </thead>
        <tbody>
          {token.rows.map((row, i) => (
            <tr key={i}>{row.map((cell, j) => renderCell(cell, j, "td"))}</tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function renderCell(cell: Tokens.TableCell, i: number, Tag: "th" | "td"): ReactNode {
  return (
    <Tag key={i} className={`${isShort(cell) ? "short" : "long"}${cell.align ? ` align-${cell.align}` : ""}`}>
      {inline(cell.tokens)}
    </Tag>
  );
}

function isShort({ text }: Tokens.TableCell): boolean {
  return text.length <= SHORT_CELL_CHARS;
}

function inline(tokens: readonly Token[] | undefined): ReactNode[] {
  return (tokens ?? []).map((token, i) => renderInline(token, i));
}

function renderInline(token: Token, key: number): ReactNode {
  switch (token.type) {
    case "text":
      return token.tokens ? inline(token.tokens) : breakable(decodeReferences(token.text));
    case "escape":
      return breakable(decodeReferences(token.text));
    case "strong":
      return <strong key={key}>{inline(token.tokens)}</strong>;
    case "em":
      return <em key={key}>{inline(token.tokens)}</em>;
    case "del":
      return <del key={key}>{inline(token.tokens)}</del>;
    case "codespan":
      return <code key={key}>{breakable(token.text)}</code>;
    case "br":
      return <br key={key} />;
    case "math":
      return (
        <span key={key} className="math" data-source={token.text}>
          <Formula source={token.text} meanwhile={token.text} onMissing={staysAsWritten} />
        </span>
      );
    case "link":
      return renderLink(token as Tokens.Link, key);
    case "image":
      return renderImage(token as Tokens.Image, key);
    default:
      return token.raw;
  }
}

function renderLink(token: Tokens.Link, key: number): ReactNode {
  const href = safeLink(decodeReferences(token.href));
  if (href === undefined)
    return (
      <span key={key} className="no-link" title={token.href}>
        {inline(token.tokens)}
      </span>
    );
  // A title, and a text that looks like an address, are the author's; the real target is shown as well.
  const host = namesOtherHost(token.text, href) ? hostOf(href) : undefined;
  return (
    <a
      key={key}
      href={href}
      target="_blank"
      rel="noopener noreferrer nofollow"
      title={token.title ? `${href}\n${token.title}` : href}
    >
      {inline(token.tokens)}
      {host !== undefined && <span className="host"> {host}</span>}
    </a>
  );
}

/** Reading never loads an external image: it is a link with its target. */
function renderImage(token: Tokens.Image, key: number): ReactNode {
  const alt = decodeReferences(token.text);
  const data = safeImageData(token.href);
  if (data) return <DataImage key={key} src={data} alt={alt} />;
  const href = safeLink(decodeReferences(token.href));
  if (!href) return alt;
  return (
    <a key={key} className="remote-image" href={href} target="_blank" rel="noopener noreferrer nofollow">
      <Icon name="image" /> {alt || "image"} <span className="host">{hostOf(href)}</span>
    </a>
  );
}

/** A picture within the text; where it cannot be drawn, its words. */
function DataImage({ src, alt }: { readonly src: string; readonly alt: string }): ReactNode {
  const [isBroken, setBroken] = useState(false);
  if (!isBroken) return <img src={src} alt={alt} {...sizeInData(src)} onError={() => setBroken(true)} />;
  return (
    <span className="no-image" title="This image can't be shown">
      <Icon name="image" /> {alt || "Image"}
    </span>
  );
}

function languageOf(info: string | undefined): string | undefined {
  return (
    info
      ?.trim()
      .split(/[\s,{]/, 1)[0]
      ?.toLowerCase() || undefined
  );
}
