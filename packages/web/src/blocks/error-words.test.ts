/** What a failure shows beside its message. */
import { expect, it } from "vitest";
import { errorWords } from "./error-words.ts";

const AGAIN = "Try again, or edit the prompt and resend it.";
const LATER = "Provider error. Try again later.";
const RESET = "You can continue once the limit has reset.";
const REPORT = "Copy the details if you report this.";

it.each([
  ["An unexpected value", { code: "unknown" }, AGAIN, undefined, undefined],
  ["An unexpected value", {}, AGAIN, undefined, undefined],
  ["An unexpected value", { code: "unknown", details: { status: 400 } }, REPORT, "HTTP 400", { status: 400 }],
  ["Not done", { code: "refused" }, REPORT, "refused", { code: "refused" }],
  ["Not done", { code: "unknown", retryable: true }, "Trying again may help.", undefined, undefined],
  ["Busy", { code: "overloaded" }, LATER, "overloaded", { code: "overloaded" }],
  [
    "High demand",
    { code: "internalServerError" },
    LATER,
    "internalServerError",
    { code: "internalServerError" },
  ],
  [
    "You've hit your 5-hour limit · resets 3pm",
    { code: "rate_limit" },
    RESET,
    "rate_limit",
    { code: "rate_limit" },
  ],
  ["It resets at 15:13.", { code: "usage_limit" }, RESET, "usage_limit", { code: "usage_limit" }],
] as const)("[V161] of %j with %j", (message, failure, advice, name, details) => {
  expect(errorWords(message, failure)).toEqual({ advice, name, details });
});
