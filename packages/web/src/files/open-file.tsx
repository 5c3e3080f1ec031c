/**
 * Choosing a file of the workspace by a few letters of its path.
 */

import { type ReactNode, useEffect, useMemo, useState } from "react";
import { overlay } from "../state/page-state.ts";
import { go, linkToFile } from "../state/route.ts";
import { useSession } from "../state/session.tsx";
import { Chooser } from "../ui/chooser.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { best } from "../ui/fits.ts";
import { FOUND_FILES } from "./limits.ts";
import { type Files, listFiles } from "./workspace.ts";

export function OpenFile(): ReactNode {
  const session = useSession();
  const [files, setFiles] = useState<Files | string | undefined>(undefined);
  const [query, setQuery] = useState("");
  useEffect(() => void listFiles(session).then(setFiles), [session]);
  const found = useMemo(
    () => (typeof files === "object" ? best(files.paths, (path) => path, query).slice(0, FOUND_FILES) : []),
    [files, query],
  );
  return (
    <Dialog label="Open a file" className="wide">
      <Chooser
        label="Open a file"
        placeholder="Type part of its path"
        query={query}
        onQuery={setQuery}
        items={found}
        keyOf={(path) => path}
        onChoose={(path) => {
          overlay.set(undefined);
          go(linkToFile(path));
        }}
        render={(path) => <span className="hit">{path}</span>}
        empty={typeof files === "string" ? files : files ? "No matches" : "Loading…"}
      />
      {typeof files === "object" && files.more && (
        <p className="dim">Too many files to search them all here. Browse folders in the Files tab.</p>
      )}
    </Dialog>
  );
}
