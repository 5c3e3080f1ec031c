/** A message to an agent that is already working. */

import type { Attached } from "./attachments.ts";
import type { When } from "./contract.ts";

export interface Message {
  /** A UUID. The agent's own record of the message has it. */
  readonly id: string;
  readonly text: string;
  readonly attached: Attached;
  readonly when: Exclude<When, "later">;
  /** The agent reads it now: writes the prompt's block after all output of the agent so far. */
  taken(): Promise<void>;
}
