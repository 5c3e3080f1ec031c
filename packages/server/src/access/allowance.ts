/** What the owner lets a loop do without asking. */
export const ALLOWANCES = ["read", "write", "bash"] as const;
export type Allowance = (typeof ALLOWANCES)[number];
