/** The attachments, above the field: name, progress, and a button to remove each. */
import type { ReactNode } from "react";
import { Icon } from "../ui/icons.tsx";
import type { Attached, Attachments } from "./attachments.ts";

export function AttachedList({ attachments: { items, remove } }: { attachments: Attachments }): ReactNode {
  if (items.length === 0) return null;
  return (
    <ul className="attached" aria-label="Attached">
      {items.map((item) => (
        <li key={item.id} className={item.state === "failed" ? "failed" : ""}>
          {item.preview ? <img src={item.preview} alt="" /> : <Icon name="file" />}
          <span className="attached-name" title={item.name}>
            {item.name}
          </span>
          <State item={item} />
          <button
            type="button"
            className="icon-button"
            aria-label={`Remove ${item.name}`}
            onClick={() => remove(item.id)}
          >
            <Icon name="cross" />
          </button>
        </li>
      ))}
    </ul>
  );
}

function State({ item: { state, isPicture, progress, why, name } }: { item: Attached }): ReactNode {
  if (state === "failed")
    return (
      <span className="bad" role="alert">
        Not attached: {why}
      </span>
    );
  if (state === "ready") return null;
  return isPicture ? (
    <progress value={progress} aria-label={`Sending ${name}`} />
  ) : (
    <span className="dim">Loading…</span>
  );
}
