/**
 * How freely the agent works. Always shown, so that nobody is surprised by what happens without asking. Full access is offered only
 * where the server was started with it.
 */
import type { ConversationMetadata } from "@blockyard/kernel";
import type { ReactNode } from "react";
import type { Mode } from "./agents.ts";
import { modeWords } from "./mode-words.ts";
import { Picker, PickerItem } from "./picker.tsx";

/** The mode of a conversation, if it is known here. */
export function modeIn(metadata: ConversationMetadata | undefined): Mode | undefined {
  return MODE_NAMES.find((mode) => mode === metadata?.mode);
}

const MODE_NAMES = ["plan", "ask", "edits", "full"] as const satisfies readonly Mode[];

const SANDBOXES: Readonly<Record<string, { readonly name: string; readonly description: string }>> = {
  "read-only": { name: "Read only", description: "Commands cannot write files" },
  "workspace-write": { name: "Workspace", description: "Commands can write only to the workspace" },
  "danger-full-access": { name: "No sandbox", description: "Commands can access everything you can" },
};

interface ModePickerProps {
  readonly mode: Mode | undefined;
  readonly modes: readonly Mode[];
  readonly sandbox: string | undefined;
  readonly sandboxes: readonly string[];
  readonly onMode: (mode: Mode) => void;
  readonly onSandbox: (sandbox: string | undefined) => void;
}

export function ModePicker(props: ModePickerProps): ReactNode {
  const { mode, modes, sandbox, sandboxes, onMode, onSandbox } = props;
  if (mode === undefined) return null;
  const isSandboxed = sandboxes.length > 0;
  const { name, icon } = modeWords(mode, isSandboxed);
  return (
    <Picker
      label="Mode"
      icon={icon}
      text={name}
      detail={sandbox === undefined ? undefined : (SANDBOXES[sandbox]?.name ?? sandbox)}
      tone={mode === "full" || sandbox === "danger-full-access" ? "warn" : "plain"}
    >
      {(close) => (
        <>
          {/* biome-ignore lint/a11y/useSemanticElements: a group of menu items is no fieldset */}
          <div role="group" aria-label="Modes">
            {modes.map((each) => (
              <PickerItem
                key={each}
                {...modeWords(each, isSandboxed)}
                isChosen={each === mode}
                onChoose={() => {
                  onMode(each);
                  close();
                }}
              />
            ))}
          </div>
          {isSandboxed && (
            // biome-ignore lint/a11y/useSemanticElements: a group of menu items is no fieldset
            <div role="group" aria-label="Sandbox">
              <div className="picker-title" aria-hidden="true">
                Sandbox
              </div>
              {[undefined, ...sandboxes].map((each) => (
                <PickerItem
                  key={each ?? ""}
                  name={each === undefined ? "Set by the mode" : (SANDBOXES[each]?.name ?? each)}
                  description={each === undefined ? undefined : SANDBOXES[each]?.description}
                  isChosen={each === sandbox}
                  onChoose={() => {
                    onSandbox(each);
                    close();
                  }}
                />
              ))}
            </div>
          )}
        </>
      )}
    </Picker>
  );
}
