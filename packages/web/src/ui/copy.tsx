/** Copying: a button that says for a moment that it has done so. */

import { type ReactNode, useState } from "react";
import { notify } from "../state/page-state.ts";
import { Icon } from "./icons.tsx";
import { COPIED_MS } from "./limits.ts";

export function CopyButton({
  text,
  label = "Copy",
}: {
  text: () => string | Promise<string | undefined>;
  label?: string;
}): ReactNode {
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    const copied = await text();
    if (copied === undefined) return notify("Couldn't copy: the server did not send the text", true);
    if (!(await copyText(copied))) return notify("Couldn't copy: the browser refused", true);
    setDone(true);
    setTimeout(() => setDone(false), COPIED_MS);
  };
  return (
    <button
      type="button"
      className="icon-button"
      onClick={copy}
      title={label}
      aria-label={isDone ? "Copied" : label}
    >
      <Icon name={isDone ? "check" : "copy"} />
    </button>
  );
}

/** For content without a button label of its own. */
export async function copyAndTell(text: string): Promise<void> {
  const isDone = await copyText(text);
  notify(isDone ? "Copied" : "Couldn't copy: the browser refused", !isDone);
}

/** Whether it worked: a browser may refuse. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
