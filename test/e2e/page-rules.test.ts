/**
 * The owner's rules on the page: made by keyboard, listed, changed, revoked.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { axeFindings } from "./page/axe.ts";
import { openHarness, type PageHarness } from "./page/harness.ts";

let harness: PageHarness;

beforeAll(async () => {
  harness = await openHarness();
}, 180_000);

afterAll(async () => {
  await harness?.close();
});

test("[CM15] a rule is made by keyboard, changed and revoked", async () => {
  const { page, complaints, context } = await harness.open("/");
  await page.keyboard.press("Control+k");
  await page.getByRole("dialog").getByRole("combobox").fill("Rules for agents");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Rules" });
  const choice = (name: string) => dialog.getByRole("button", { name });
  await choice("Answer: Allow").focus();
  await page.keyboard.press("Enter");
  await dialog.getByRole("menuitemradio", { name: "Allow", checked: true }).waitFor();
  await page.keyboard.press("d");
  await page.keyboard.press("Enter");
  // It is closed, and the focus is where it was.
  await expect.poll(() => dialog.getByRole("menu").count()).toBe(0);
  await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe("Answer: Deny");
  await choice("What it covers: Command").click();
  await dialog.getByRole("menuitemradio", { name: "Domain" }).click();
  await choice("What it covers: Domain").waitFor();
  await dialog.getByRole("textbox", { name: "Pattern" }).fill("docs.example.com");
  expect(await axeFindings(page)).toEqual([]);
  await page.keyboard.press("Enter");
  const rule = dialog.getByRole("list", { name: "Rules" }).getByRole("listitem");
  await rule.getByText("Deny").waitFor();
  await rule.getByText("docs.example.com").waitFor();
  await rule.getByRole("button", { name: "Edit" }).click();
  await choice("Answer: Deny").click();
  await dialog.getByRole("menuitemradio", { name: "Allow" }).click();
  await dialog.getByRole("button", { name: "Save" }).click();
  await rule.getByText("Allow").waitFor();
  await page.setViewportSize({ width: 390, height: 800 });
  await rule.getByRole("button", { name: "Revoke" }).click();
  await dialog.getByText("No rules yet").waitFor();
  // What an agent keeps itself is not in the list, and is not denied.
  await dialog.getByText(".claude/settings.local.json").waitFor();
  expect(complaints).toEqual([]);
  await context.close();
});
