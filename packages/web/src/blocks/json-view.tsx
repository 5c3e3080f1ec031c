/**
 * A JSON value: a small one indented and coloured; a large one as a tree whose objects and lists are opened one by one, so that
 * nothing of it is drawn that nobody has opened.
 */

import type { Json } from "@blockyard/kernel";
import { type ReactNode, useMemo, useState } from "react";
import { CodeLines } from "../highlight/code-lines.tsx";
import { useOpen } from "../state/disclosure.ts";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { JSON_ENTRIES, JSON_TEXT_CHARS, JSON_VALUE_CHARS } from "./limits.ts";

export function JsonView({ value, name }: { value: Json; name: string }): ReactNode {
  const text = useMemo(() => JSON.stringify(value, null, 2), [value]);
  if (text.length <= JSON_TEXT_CHARS || typeof value !== "object" || value === null)
    return <CodeLines name={`json:${name}`} text={text} grammar="json" />;
  return (
    <ul className="json-tree" aria-label="JSON">
      <Entries value={value} name={`json:${name}`} />
    </ul>
  );
}

function Entries({ value, name }: { value: object; name: string }): ReactNode {
  const [shown, setShown] = useState(JSON_ENTRIES);
  const keys = useMemo(() => Object.keys(value), [value]);
  const isList = Array.isArray(value);
  const left = keys.length - shown;
  return (
    <>
      {keys.slice(0, shown).map((key) => (
        <Entry
          key={key}
          label={isList ? undefined : key}
          index={isList ? key : undefined}
          value={(value as Record<string, Json>)[key] as Json}
          name={`${name}/${key}`}
        />
      ))}
      {left > 0 && (
        <li>
          <button type="button" className="collapse-line" onClick={() => setShown(shown + JSON_ENTRIES)}>
            Show {Math.min(JSON_ENTRIES, left)} more of {left.toLocaleString("en-US")}
          </button>
        </li>
      )}
    </>
  );
}

interface EntryProps {
  readonly label: string | undefined;
  readonly index: string | undefined;
  readonly value: Json;
  readonly name: string;
}

function Entry({ label, index, value, name }: EntryProps): ReactNode {
  const key =
    label === undefined ? (
      <span className="json-index">{index}</span>
    ) : (
      <span className="json-key">{breakable(label)}</span>
    );
  if (typeof value !== "object" || value === null)
    return (
      <li>
        {key} <Plain value={value} />
      </li>
    );
  return <Branch label={key} value={value} name={name} />;
}

function Branch({ label, value, name }: { label: ReactNode; value: object; name: string }): ReactNode {
  const [isOpen, toggle] = useOpen(name, false);
  const count = Object.keys(value).length;
  const words = Array.isArray(value) ? `[${count}]` : `{${count}}`;
  return (
    <li>
      <button type="button" className="json-branch" aria-expanded={isOpen} onClick={toggle}>
        <Icon name="chevron" className={isOpen ? "turned" : ""} />
        {label} <span className="json-count">{words}</span>
      </button>
      {isOpen && (
        <ul>
          <Entries value={value} name={name} />
        </ul>
      )}
    </li>
  );
}

function Plain({ value }: { value: string | number | boolean | null }): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const text = JSON.stringify(value);
  const isCut = text.length > JSON_VALUE_CHARS && !isWhole;
  return (
    <>
      <span className={typeof value === "string" ? "json-value t-string" : "json-value t-constant"}>
        {breakable(isCut ? `${text.slice(0, JSON_VALUE_CHARS).toWellFormed()}…` : text)}
      </span>
      {isCut && (
        <button type="button" className="collapse-line" onClick={() => setWhole(true)}>
          Show all {text.length.toLocaleString("en-US")} characters
        </button>
      )}
    </>
  );
}
