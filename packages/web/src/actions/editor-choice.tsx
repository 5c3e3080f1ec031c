/** Which editor opens files: asked once, when the first path is clicked; later from the commands. Kept in this browser. */
import { type ReactNode, useState } from "react";
import { workspaceRoot } from "../state/capabilities.ts";
import { overlay } from "../state/page-state.ts";
import { prefer, preferences } from "../state/preferences.ts";
import { Dialog } from "../ui/dialog.tsx";
import { COPY, CUSTOM, EDITORS, templateFault } from "./editors.ts";
import { openPath } from "./open-path.ts";

interface EditorChoiceProps {
  /** The file to open when it was asked. */
  readonly path: string | undefined;
  readonly line: number;
}

export function EditorChoice({ path, line }: EditorChoiceProps): ReactNode {
  const before = preferences.get();
  const [chosen, setChosen] = useState(before.editor === "" ? (EDITORS[0]?.id ?? COPY) : before.editor);
  const [template, setTemplate] = useState(before.editorTemplate);
  const fault = chosen === CUSTOM ? templateFault(template) : undefined;
  const choices = [
    ...EDITORS.map(({ id, name }) => ({ id, name })),
    { id: CUSTOM, name: "Custom URL…" },
    { id: COPY, name: "None: copy the path" },
  ];
  return (
    <Dialog label="Open files in" className="ask">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (fault !== undefined) return;
          prefer({ editor: chosen, editorTemplate: template.trim() });
          overlay.set(undefined);
          if (path !== undefined) openPath(path, line, workspaceRoot.get());
        }}
      >
        <fieldset className="editor-choices">
          <legend>Open files in</legend>
          {choices.map(({ id, name }) => (
            <label key={id}>
              <input
                type="radio"
                name="editor"
                value={id}
                checked={chosen === id}
                onChange={() => setChosen(id)}
              />
              {name}
            </label>
          ))}
        </fieldset>
        {chosen === CUSTOM && (
          <p>
            <input
              className="editor-template"
              aria-label="Editor URL"
              placeholder="myeditor://open?file={path}&line={line}"
              value={template}
              onChange={(event) => setTemplate(event.target.value)}
            />
            {fault && template !== "" && <span className="bad">{fault}</span>}
          </p>
        )}
        <p className="dim">
          Your browser opens the link, so the editor must be on this machine. You can always copy the path.
        </p>
        <div className="ask-buttons">
          <button type="submit" className="primary" disabled={fault !== undefined}>
            {path === undefined ? "Use it" : "Use it and open"}
          </button>
          <button type="button" onClick={() => overlay.set(undefined)}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}
