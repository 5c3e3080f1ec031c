/**
 * The rules by which agents are answered without asking: listed, changed, revoked, and made by hand. The owner's alone.
 */
import { isProblem } from "@blockyard/kernel";
import { type FormEvent, type ReactNode, useCallback, useEffect, useState } from "react";
import { workspaceRoot } from "../state/capabilities.ts";
import { useCell } from "../state/cell.ts";
import { notify } from "../state/page-state.ts";
import { type Session, useSession } from "../state/session.tsx";
import { Choice } from "../ui/choice.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icons.tsx";
import { Message } from "../ui/message.tsx";
import { refused } from "./actions.ts";
import { type Pattern, patternFrom, type Rule, textOf } from "./rule-text.ts";

export function RulesDialog(): ReactNode {
  const session = useSession();
  const [rules, setRules] = useState<readonly Rule[] | string | undefined>(undefined);
  const [edited, setEdited] = useState<Rule | undefined>(undefined);
  const read = useCallback(() => void readRules(session).then(setRules), [session]);
  useEffect(read, [read]);
  const remove = async (rule: Rule) => {
    const answer = await session.write("rule.remove", { id: rule.id });
    if (isProblem(answer)) return refused("Couldn't revoke", answer);
    notify("Rule revoked. Agents will ask again");
    read();
  };
  return (
    <Dialog label="Rules" title="Rules" className="wide">
      <p className="dim">
        These rules answer agents without asking you. Deny wins over allow. Guarded files always ask. Rules
        that Claude Code suggests itself are not listed: it saves them in{" "}
        <code>.claude/settings.local.json</code>.
      </p>
      <RuleForm
        key={edited?.id ?? ""}
        edited={edited}
        onDone={() => {
          setEdited(undefined);
          read();
        }}
      />
      {typeof rules === "string" && <p className="bad">{rules}</p>}
      {rules === undefined && <p className="dim">Loading…</p>}
      {Array.isArray(rules) && rules.length === 0 && (
        <p className="dim">No rules yet. Choose “Allow … in this workspace” when an agent asks.</p>
      )}
      {Array.isArray(rules) && rules.length > 0 && (
        <ul className="rules" aria-label="Rules">
          {rules.map((rule: Rule) => (
            <li key={rule.id}>
              <span className={`rule-effect ${rule.effect}`}>
                {rule.effect === "allow" ? "Allow" : "Deny"}
              </span>
              <span className="rule-main">
                <Message text={rule.words} />
                <span className="dim">
                  {rule.conversation === undefined ? `in ${rule.workspace}` : "in one conversation"}
                  {rule.by !== session.replica.self?.agent && ` · by ${rule.by}`}
                </span>
              </span>
              <button type="button" className="quiet-button" onClick={() => setEdited(rule)}>
                <Icon name="edit" /> Edit
              </button>
              <button type="button" className="quiet-button" onClick={() => void remove(rule)}>
                <Icon name="cross" /> Revoke
              </button>
            </li>
          ))}
        </ul>
      )}
    </Dialog>
  );
}

async function readRules(session: Session): Promise<readonly Rule[] | string> {
  const answer = await session.write("rule.list", {});
  return isProblem(answer) ? answer.message : answer.rules;
}

const EFFECTS: readonly { readonly value: Rule["effect"]; readonly name: string }[] = [
  { value: "allow", name: "Allow" },
  { value: "deny", name: "Deny" },
];

const KINDS: readonly { readonly value: Pattern["type"]; readonly name: string; readonly hint: string }[] = [
  { value: "command", name: "Command", hint: "npm test" },
  { value: "path", name: "Edits in folder", hint: "src" },
  { value: "domain", name: "Domain", hint: "docs.example.com" },
  { value: "tool", name: "Tool", hint: "create_issue from jira" },
];

function RuleForm({ edited, onDone }: { edited: Rule | undefined; onDone: () => void }): ReactNode {
  const session = useSession();
  const root = useCell(workspaceRoot) ?? "";
  const [effect, setEffect] = useState<Rule["effect"]>(edited?.effect ?? "allow");
  const [type, setType] = useState<Pattern["type"]>(edited?.pattern.type ?? "command");
  const [text, setText] = useState(edited === undefined ? "" : textOf(edited.pattern, root));
  const pattern = patternFrom(type, text, root);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (pattern === undefined) return;
    const place =
      edited?.conversation === undefined
        ? { workspace: edited?.workspace ?? root }
        : { conversation: edited.conversation };
    const id = edited === undefined ? {} : { id: edited.id };
    const answer = await session.write("rule.set", { ...id, effect, ...place, pattern });
    if (isProblem(answer)) return refused("Couldn't save", answer);
    setText("");
    onDone();
  };
  return (
    <form className="rule-form" aria-label={edited ? "Edit rule" : "New rule"} onSubmit={submit}>
      <Choice label="Answer" value={effect} options={EFFECTS} onChange={setEffect} />
      <Choice label="What it covers" value={type} options={KINDS} onChange={setType} />
      <input
        aria-label="Pattern"
        placeholder={KINDS.find(({ value }) => value === type)?.hint}
        spellCheck={false}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="primary" disabled={pattern === undefined}>
        {edited ? "Save" : "Add rule"}
      </button>
      {edited && (
        <button type="button" className="quiet-button" onClick={onDone}>
          Cancel
        </button>
      )}
    </form>
  );
}
