/**
 * Rules: answers that the owner has given once for all that follows, in a conversation or in a workspace. A deny wins. What a rule
 * answers names it; a rule is taken back at any time, and counts for nothing from then on.
 *
 * Kept in the data directory, like trust: they are about folders of this machine, and no agent can write there.
 */

import { readFileSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  type Ask,
  type AskSubject,
  type AskSuggestion,
  type ConversationId,
  type Env,
  type Problem,
  problem,
  randomName,
} from "@blockyard/kernel";
import { z } from "zod";
import { writePrivate } from "../../system/private-file.ts";
import { MAX_RULES } from "../limits.ts";
import { isAllCompared } from "./asked-input.ts";
import { type Pattern, patternSchema } from "./contract.ts";
import { REMOTE } from "./first-words.ts";
import { allows, asksRemote, denies, patternsOf, patternWords, within } from "./pattern.ts";

const ruleSchema = z.strictObject({
  id: z.string(),
  effect: z.enum(["allow", "deny"]),
  /** Its scope: one conversation, or every one that works in this folder. */
  conversation: z.string().optional(),
  workspace: z.string().optional(),
  pattern: patternSchema,
  by: z.string(),
  at: z.number(),
});
export type Rule = z.infer<typeof ruleSchema>;

/** The place of an ask. */
export interface Place {
  readonly conversation: ConversationId;
  readonly cwd: string;
}

interface Decision {
  readonly allow: boolean;
  /** The creator of the rule. */
  readonly by: string;
  /** The rule, for readers of the call. */
  readonly words: string;
}

/** Our own answers beside those that an agent suggests. */
const OWN = {
  conversation: "rule-conversation",
  workspace: "rule-workspace",
  deny: "rule-deny",
} as const;

/** Whether git knows a remote by this name in a folder. */
type HasRemote = (folder: string, name: string) => boolean;

export class Rules {
  readonly #file: string;
  readonly #env: Pick<Env, "now" | "random">;
  readonly #hasRemote: HasRemote;

  constructor(home: string, env: Env, hasRemote: HasRemote) {
    this.#hasRemote = hasRemote;
    this.#file = join(home, "rules.json");
    this.#env = env;
  }

  list(): readonly Rule[] {
    return this.#read();
  }

  /** A new rule, or with `id` another form of one. */
  set(
    by: string,
    given: Omit<Rule, "id" | "by" | "at"> & { readonly id?: string | undefined },
  ): Rule | Problem {
    const all = this.#read();
    const { id, ...what } = given;
    if (id !== undefined && !all.some((each) => each.id === id)) return notThere(id);
    if ((what.conversation === undefined) === (what.workspace === undefined))
      return problem("invalid", "a rule applies to a conversation or a workspace: pass one of the two");
    if (id === undefined && all.length >= MAX_RULES)
      return problem("busy", `there are already ${all.length} rules: remove some first`);
    const workspace = what.workspace === undefined ? {} : { workspace: real(what.workspace) };
    const fresh = id ?? `rule-${randomName(this.#env as Env, 8)}`;
    const rule: Rule = { ...what, ...workspace, id: fresh, by, at: this.#env.now() };
    this.#write([...all.filter((each) => each.id !== fresh), rule]);
    return rule;
  }

  remove(id: string): Problem | undefined {
    const all = this.#read();
    if (!all.some((each) => each.id === id)) return notThere(id);
    this.#write(all.filter((each) => each.id !== id));
    return undefined;
  }

  /** The rules' answer to an ask; undefined if a person has to give it. */
  decide(ask: Pick<Ask, "kind" | "subject" | "input">, place: Place): Decision | undefined {
    const cwd = real(place.cwd);
    const subject = grounded(ask.subject, cwd);
    if (ask.kind !== "permission" || subject === undefined) return undefined;
    const here = this.#read().filter((rule) => countsIn(rule, place.conversation, cwd));
    const denied = here.find(({ effect, pattern }) => effect === "deny" && denies(pattern, subject, cwd));
    if (denied !== undefined) return { allow: false, by: denied.by, words: wordsOf([denied], cwd) };
    if (!isAllCompared(ask) || !this.#isGrounded(subject, cwd)) return undefined;
    const leave = here.filter(({ effect }) => effect === "allow");
    const patterns = leave.map(({ pattern }) => pattern);
    if (!allows(patterns, subject, cwd)) return undefined;
    const used = leave.filter(({ pattern }) => isUsed(pattern, patterns, subject, cwd));
    const named = used.length > 0 ? used : leave;
    return { allow: true, by: named[0]?.by ?? "", words: wordsOf(named, cwd) };
  }

  /** The words of a rule that denies what needs no answer otherwise. */
  denied(subject: AskSubject, place: Place): string | undefined {
    const decided = this.decide({ kind: "permission", subject }, place);
    return decided?.allow === false ? decided.words : undefined;
  }

  /** The answers to an ask besides yes and no: the agent's suggestions, unless they pass for ours, and ours. */
  offered(ask: Ask, folder: string): readonly AskSuggestion[] {
    const theirs = (ask.suggestions ?? []).filter(({ id }) => !isOwnSuggestion(id));
    return [...theirs, ...this.suggestions(ask, folder)];
  }

  /** The standing answers to an ask, besides the agent's suggestions. */
  suggestions(ask: Ask, folder: string): readonly AskSuggestion[] {
    const { kind, subject: asked, suggestions = [] } = ask;
    if (kind !== "permission") return [];
    const cwd = real(folder);
    const subject = grounded(asked, cwd);
    const offered = (scope: AskSuggestion["scope"]) =>
      suggestions.some((each) => each.scope === scope && each.deny !== true && !isOther(each));
    const leave = isAllCompared(ask) && this.#isGrounded(subject, cwd) ? patternsOf(subject, cwd, false) : [];
    const refusal = patternsOf(subject, cwd, true);
    const words = leave.map((pattern) => patternWords(pattern, cwd)).join(" and ");
    const refused = refusal.map((pattern) => patternWords(pattern, cwd)).join(" and ");
    return [
      ...(leave.length === 0 || offered("conversation")
        ? []
        : [suggestion(OWN.conversation, `Allow ${words} in this conversation`, "conversation")]),
      ...(leave.length === 0 || offered("workspace")
        ? []
        : [suggestion(OWN.workspace, `Allow ${words} in this workspace`, "workspace")]),
      ...(refusal.length === 0
        ? []
        : [
            {
              ...suggestion(OWN.deny, `Always deny ${refused} in this workspace`, "workspace"),
              deny: true as const,
            },
          ]),
    ];
  }

  /**
   * Stores the rule that an answer requests: one of ours, or one of the agent's that it forgets when its process ends.
   * Returns the new rules, to be removed if the answer comes too late.
   */
  keep(by: string, ask: Ask, taken: string | undefined, place: Place): readonly Rule[] | Problem {
    const chosen = ask.suggestions?.find(({ id }) => id === taken);
    if (chosen === undefined || ask.kind !== "permission") return [];
    const isOwn = isOwnSuggestion(chosen.id);
    const isForgotten = chosen.scope === "conversation" && chosen.deny !== true && !isOther(chosen);
    if (!isOwn && !isForgotten) return [];
    const isDeny = chosen.id === OWN.deny;
    if (!isDeny && !isAllCompared(ask)) return [];
    const cwd = real(place.cwd);
    const scope = chosen.scope === "conversation" ? { conversation: place.conversation } : { workspace: cwd };
    const made: Rule[] = [];
    const subject = grounded(ask.subject, cwd);
    const ours = patternsOf(subject, cwd, isDeny);
    // A label of the agent's may say less than a rule of ours would allow.
    const isSaid = isOwn || ours.every((each) => chosen.label.includes(patternWords(each, cwd)));
    for (const pattern of isSaid ? ours : patternsOf(subject, cwd, false, true)) {
      const rule = this.set(by, { effect: isDeny ? "deny" : "allow", ...scope, pattern });
      if ("problem" in rule) return rule;
      made.push(rule);
    }
    return made;
  }

  /** Whether what it names is what a rule takes it for: git's `origin`, and no folder of that name. */
  #isGrounded(subject: AskSubject | undefined, cwd: string): boolean {
    if (subject?.type !== "command" || !asksRemote(subject.command)) return true;
    return this.#hasRemote(subject.cwd ?? cwd, REMOTE);
  }

  /** An unreadable file means no rules: everything needs approval. */
  #read(): readonly Rule[] {
    try {
      const found = z.array(ruleSchema).safeParse(JSON.parse(readFileSync(this.#file, "utf8")));
      return found.success ? found.data : [];
    } catch {
      return [];
    }
  }

  #write(rules: readonly Rule[]): void {
    writePrivate(this.#file, JSON.stringify(rules, null, 1));
  }
}

/** Whether a suggestion is ours: the agent knows nothing of it. */
export function isOwnSuggestion(id: string | undefined): boolean {
  return id !== undefined && (Object.values(OWN) as readonly string[]).includes(id);
}

/** A later mode, or an added folder, is no rule for the request. */
function isOther({ native }: AskSuggestion): boolean {
  const type = (native as { readonly type?: unknown } | undefined)?.type;
  return type === "setMode" || type === "addDirectories";
}

function countsIn({ conversation, workspace }: Rule, here: ConversationId, cwd: string): boolean {
  if (conversation !== undefined) return conversation === here;
  return workspace !== undefined && within(workspace, cwd);
}

/** With the real files: a link in a folder may lead out of it. */
function grounded(subject: AskSubject | undefined, cwd: string): AskSubject | undefined {
  if (subject?.type === "command" && subject.cwd !== undefined)
    return { ...subject, cwd: real(resolve(cwd, subject.cwd)) };
  if (subject?.type !== "diff" || subject.paths === undefined) return subject;
  return { ...subject, paths: subject.paths.map((path) => real(resolve(cwd, path))) };
}

/** Without it, the request would not be allowed. */
function isUsed(pattern: Pattern, all: readonly Pattern[], subject: AskSubject, cwd: string): boolean {
  return (
    allows([pattern], subject, cwd) ||
    !allows(
      all.filter((each) => each !== pattern),
      subject,
      cwd,
    )
  );
}

function wordsOf(rules: readonly Rule[], cwd: string): string {
  const words = rules.slice(0, 3).map(({ pattern, conversation }) => {
    const where = conversation === undefined ? "in this workspace" : "in this conversation";
    return `${patternWords(pattern, cwd)} ${where}`;
  });
  return words.join(", ");
}

function suggestion(id: string, label: string, scope: AskSuggestion["scope"]): AskSuggestion {
  return { id, label, scope };
}

function notThere(id: string): Problem {
  return problem("not_found", `there is no rule ${id}`);
}

/** The real target of a path, as far as it exists. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const above = dirname(path);
    return above === path ? path : join(real(above), basename(path));
  }
}
