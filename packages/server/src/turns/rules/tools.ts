/** rule.list, rule.set, rule.remove: the owner's answers for all that follows. The owner's alone. */

import { type Call, isProblem, tool } from "@blockyard/kernel";
import type { z } from "zod";
import type { Turns } from "../turns.ts";
import { ruleList, ruleRemove, ruleSet, type ruleView } from "./contract.ts";
import { patternWords } from "./pattern.ts";
import type { Rule, Rules } from "./rules.ts";

export function ruleTools(rules: Rules, turns: Turns) {
  const list = tool({
    ...ruleList,
    description:
      "List the rules that answer agents without asking: what each allows or denies, in which conversation or workspace, and " +
      "who made it. With conversation or workspace, only the rules for exactly that one.",
    access: "owner",
    async run(_: Call, { conversation, workspace }) {
      const isMeant = (rule: Rule) =>
        (conversation === undefined && workspace === undefined) ||
        (conversation !== undefined && rule.conversation === conversation) ||
        (workspace !== undefined && rule.workspace === workspace);
      return { rules: rules.list().filter(isMeant).map(view) };
    },
  });

  const set = tool({
    ...ruleSet,
    description:
      "Create a rule, or with id change one: what agents may do without asking, or never, in a conversation or in a workspace (a folder and " +
      "everything in it). A command is matched by its first words. A deny wins over every allow. Guarded files always need approval.",
    access: "owner",
    sensitive: () => true,
    async run({ caller }: Call, input) {
      const rule = rules.set(caller.agent, input);
      if (isProblem(rule)) return rule;
      turns.applyRules();
      return view(rule);
    },
  });

  const remove = tool({
    ...ruleRemove,
    description: "Remove a rule: what it answered is asked again from now on.",
    access: "owner",
    sensitive: () => true,
    async run(_: Call, { id }) {
      return rules.remove(id) ?? { removed: true };
    },
  });

  return [list, set, remove] as const;
}

function view(rule: Rule): z.infer<typeof ruleView> {
  const { id, effect, pattern, conversation, workspace, by, at } = rule;
  return {
    ...{ id, effect, pattern, by, at, words: patternWords(pattern, workspace ?? "/") },
    ...(conversation === undefined ? {} : { conversation }),
    ...(workspace === undefined ? {} : { workspace }),
  };
}
