/** How the lines of an ACP agent are read in a turn that is run here. */

import { acpWith, type Provider } from "@blockyard/providers";
import type { AcpAgent } from "./agents.ts";

/** Prompts and answers are in the conversation already, and so is a loaded session's replay. */
export function providerOf({ provider }: AcpAgent): Provider {
  const known = { showsPrompts: false, showsHistory: false, showsAnswers: false };
  return { name: provider, adapter: acpWith({ provider, ...known }), framing: "lines" };
}
