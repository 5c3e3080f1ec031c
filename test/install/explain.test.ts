/** The launcher's message when an install fails: npm's last lines, and the fix. */
import { expect, it } from "vitest";
import { explainInstall } from "../../scripts/install.mjs";

it.each([
  ["npm-missing spawn npm ENOENT", "Install Node 24"],
  ["npm error code EAI_AGAIN\nnpm error request failed", "Check the network"],
  ["npm error code ECONNREFUSED", "Check the network"],
  ["npm error code ENOSPC", "disk is full"],
  ["npm error code EACCES", "writable"],
  ["npm error code EUSAGE", "npm install"],
  ["npm error code EINTEGRITY", "npm cache clean"],
  ["npm error something else", "npm ci"],
])("%s: %s", (output, fix) => {
  expect(explainInstall(output, "v20.0.0")).toContain(fix);
});

it("shows the end of what npm said, and no more", () => {
  const output = Array.from({ length: 50 }, (_, line) => `line ${line};`).join("\n");
  const text = explainInstall(output, "v20.0.0");
  expect(text).toContain("line 49;");
  expect(text).not.toContain("line 30;");
});
