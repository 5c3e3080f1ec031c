/** What a check of the contract of stores is, and what it is given. */

import type { Store } from "../ports/store.ts";

interface StoreHarness {
  readonly store: Store;
  /** Closes the store and opens what it has kept. */
  reopen(): Promise<Store>;
  close(): Promise<void>;
}

export interface ContractCheck {
  /** Begins with the rule's id. */
  readonly title: string;
  run(harness: StoreHarness): Promise<void>;
}
