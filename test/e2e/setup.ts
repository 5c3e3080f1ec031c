/** Runs once, before the first end-to-end test: a browser that has to be installed would not come within a hook's time. */
import { testBrowserPath } from "./page/chromium.ts";

export default function setup(): void {
  testBrowserPath();
}
