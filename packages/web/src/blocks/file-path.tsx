/**
 * A file's path: its folder dim, its name plain, the whole in the title. A click copies it.
 */
import type { ReactNode } from "react";
import { copyText } from "../copy.tsx";

export function FilePath({ path }: { path: string }): ReactNode {
  const cut = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return (
    <button type="button" className="file-path" title={`${path} (copy)`} onClick={() => void copyText(path)}>
      <span className="folder">{path.slice(0, cut)}</span>
      <span className="name">{path.slice(cut)}</span>
    </button>
  );
}
