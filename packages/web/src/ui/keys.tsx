/**
 * A key, or keys that are pressed together, as they are written beside what they do.
 */
import { Fragment, type ReactNode } from "react";

const NAMES: Readonly<Record<string, string>> = {
  ctrl: "Ctrl",
  shift: "Shift",
  Escape: "Esc",
  ArrowRight: "→",
  ArrowLeft: "←",
};

/** `keys`: their names, with a space between those that are pressed together. */
export function Keys({ keys }: { keys: string }): ReactNode {
  return (
    <span className="keys">
      {keys.split(" ").map((key, i) => (
        <Fragment key={key}>
          {i > 0 && " "}
          <kbd>{NAMES[key] ?? key}</kbd>
        </Fragment>
      ))}
    </span>
  );
}

/** As they are pressed: with Ctrl a capital letter is Shift and the letter. */
export function keysOf({ key, ctrl }: { readonly key: string; readonly ctrl?: true }): string {
  if (!ctrl) return key;
  return ["ctrl", ...(/[A-Z]/.test(key) ? ["shift"] : []), key.toUpperCase()].join(" ");
}
