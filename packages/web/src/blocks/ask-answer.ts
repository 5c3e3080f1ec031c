/** How the parts of an ask give their answer: allowed or not, with words for the agent, and what was chosen. */
import type { AskAnswer } from "@blockyard/kernel";

export type GiveAnswer = (allow: boolean, message?: string, given?: AskAnswer) => void;
