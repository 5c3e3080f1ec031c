/**
 * The looks that a page rarely has and still must bear: long names, other scripts, tables and changes that are too large, a command of
 * many lines, a form, an agent below an agent, a server that is away, a link that is used up, and a list of many conversations.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { isProblem } from "@blockyard/kernel";
import type { Page } from "playwright-core";
import { newConversation, say } from "./harness.ts";
import { ask, played, type Showcase } from "./showcase.ts";
import { command, type State, seen } from "./states.ts";

const MANY = 50;
const LONG_WORD = "packages/server/src/turns/drivers/claude/".repeat(6);
const LONG_TITLE = `Move the checkout, the cart, the vouchers and everything that rounds to integer cents, without a stop of the shop ${LONG_WORD}`;

const SCRIPTS = [
  { role: "user", text: "اشرح لماذا ينقص سنت واحد من الفاتورة، ثم أصلح `discounted()` في السطر 3." },
  {
    text: "الخطأ في `src/price.ts`: الضرب في 0.9 ليس دقيقا.\n\n1. اضرب أولا\n2. ثم قرّب مرة واحدة\n\n> لا تقرّب مرتين.",
  },
  { role: "user", text: "請用中文說明一下。日本語でもお願いします 🙏" },
  {
    text: "折扣價在最後才四捨五入一次,所以不會再少一分錢。`Math.floor` 會把 99.99999999999999 變成 99。\n\n端数処理は最後に一度だけ行います。合計は常に整数のセントです。",
  },
  { role: "user", text: "👍🏽👨‍👩‍👧‍👦🏳️‍🌈" },
  { text: "Zażółć gęślą jaźń · Ærøskøbing · naïve café · עברית עם English באמצע · ไทย · हिन्दी ✅ 🚀" },
] as const;

const COLUMNS = ["article", "net", "voucher", "percent", "before", "after", "rounded", "cents lost", "file"];
const row = (i: number) =>
  `| ${["gift card with a very long name", "1 000", "SPRING-SALE", `${i * 7} %`, "999.99999999999997", "1 000", "half up", "0", "`src/cart/total.ts`"].join(" | ")} |`;
const WIDE = `All nine columns, and what does not load:

| ${COLUMNS.join(" | ")} |
|${COLUMNS.map(() => "---").join("|")}|
${[1, 2, 3, 4].map(row).join("\n")}

![the receipt](data:image/png;base64,AAAA)

A word that never ends: ${LONG_WORD}${LONG_WORD}

\`\`\`ts
export const rounded = lines.map(({ cents, count, percent }) => discounted(cents * count, percent)).reduce((sum, each) => sum + each, 0);
\`\`\`

- one
  - two
    - three
      - four, with a formula $\\frac{100 - p}{100}$ in it
`;

const SCRIPT = `set -euo pipefail
for file in migrations/2019/*.sql; do
  name=$(basename "$file" .sql)
  git log --follow --format='%h %ad %s' --date=short -- "$file" | tee "history/$name.txt"
done
cat > scripts/check-migrations-that-nobody-has-run-since-the-shop-was-moved-to-the-new-database.sh <<'END'
${Array.from({ length: 24 }, (_, i) => `psql "$SHOP_DATABASE" -c "select count(*) from migration where id = ${i + 1900}"`).join("\n")}
END
git rm -r migrations/2019 && npm test`;

const FORM = {
  kind: "elicitation",
  form: {
    message: "A ticket needs a few details.",
    schema: {
      type: "object",
      required: ["title", "team"],
      properties: {
        title: { type: "string", title: "Title", description: "What the customer sees" },
        estimate: { type: "integer", title: "Estimate", minimum: 1 },
        priority: { type: "string", title: "Priority", enum: ["low", "normal", "urgent"] },
        team: {
          type: "string",
          title: "Team",
          enum: [
            "cart",
            "checkout",
            "gift cards",
            "invoices",
            "refunds",
            "shipping",
            "vouchers",
            "warehouse",
          ],
        },
        notify: { type: "boolean", title: "Tell the customer" },
      },
    },
  },
};

/** Conversations that are hard to show. */
export async function fillEdges(showcase: Showcase) {
  const { kernel, root } = showcase;
  const long = await newConversation(kernel, LONG_TITLE);
  await say(kernel, long, [{ role: "user", text: LONG_TITLE }, { text: `In \`${LONG_WORD}\`.` }]);
  const scripts = await newConversation(kernel, "اشرح لماذا ينقص سنت 🙏 折扣");
  await say(kernel, scripts, SCRIPTS);
  const wide = await newConversation(kernel, "Compare every voucher");
  await say(kernel, wide, [{ role: "user", text: "Show me all of them." }, { text: WIDE }]);
  const form = await newConversation(kernel, "Open a ticket");
  const written = await kernel.write(form, {
    agent: "claude",
    plan: (draft) =>
      draft.create({
        ...{ kind: "tool_call", role: "model", text: "{}", status: "running" },
        metadata: {
          ...{ toolName: "mcp__desk__create_ticket", toolUseId: "q", stage: "running" },
          ask: { id: "a", state: "asked", title: "Create a ticket", input: {}, ...FORM },
        } as never,
      }),
  });
  if (isProblem(written)) throw new Error(written.message);
  const lines = Array.from({ length: 3_000 }, (_, i) => `export const price${i} = ${i * 7};`).join("\n");
  const file = join(root, "src/prices.ts");
  return {
    ...{ long, scripts, wide, form },
    nested: await played(showcase, {
      ...{ provider: "claude", name: "claude/subagent-nested", title: "Ask agents that ask agents" },
      prompt: "Let three agents look at it.",
    }),
    longCommand: await ask(showcase, "Remove what nobody runs", [
      { says: "One script checks them, then they go." },
      { asks: "Bash", input: { command: SCRIPT, description: "Check and remove old migrations" } },
    ]),
    allowed: await ask(
      showcase,
      "Run all tests of the checkout",
      [
        { says: "They take a while." },
        {
          asks: "Bash",
          input: { command: "npm test --workspace checkout -- --verbose", description: "Run the tests" },
        },
      ],
      { stays: true },
    ),
    hugeDiff: await ask(showcase, "Generate the price list", [
      {
        calls: "Write",
        input: { file_path: file, content: lines },
        result: "File created successfully",
        more: {
          tool_use_result: {
            ...{ type: "create", filePath: file, content: lines },
            ...{ structuredPatch: [], originalFile: null, userModified: false },
          },
        },
      },
      { says: "Three thousand prices." },
    ]),
  };
}

export function edgeStates(of: Awaited<ReturnType<typeof fillEdges>>): readonly State[] {
  const at = (conversation: string) => `/c/${conversation}`;
  return [
    // Nobody waits for its answer: after a while it counts as cut off.
    { name: "form", path: at(of.form), act: seen("Needs an answer") },
    { name: "form-menu", path: at(of.form), act: openTeams },
    { name: "long-title", path: at(of.long) },
    { name: "scripts", path: at(of.scripts) },
    { name: "wide-table", path: at(of.wide) },
    { name: "nested-agents", path: at(of.nested), act: command("expand all") },
    { name: "long-command", path: at(of.longCommand), act: seen("Needs approval") },
    { name: "allowed-command", path: at(of.allowed), act: allow },
    { name: "huge-diff", path: at(of.hugeDiff) },
    { name: "picker", path: "/", act: pick },
    { name: "agent-missing", path: "/", act: pickMissing },
    { name: "no-matches", path: "/", act: searchNothing },
    { name: "palette-empty", path: "/", act: paletteNothing },
    { name: "not-found", path: `${at(of.long).slice(0, -4)}0000` },
    { name: "offline", path: at(of.wide), act: cutOff },
    { name: "used-link", path: "/", act: followUsedLink },
  ];
}

/** Many conversations, and a folder with a file that agents obey: what a workspace of a few weeks is. */
export async function fillMany(showcase: Showcase): Promise<readonly State[]> {
  for (let i = 1; i <= MANY; i++)
    await newConversation(
      showcase.kernel,
      i % 9 === 0
        ? LONG_TITLE
        : `Ticket ${i * 37}: ${["refunds", "vouchers", "gift cards", "receipts"][i % 4]}`,
    );
  writeFileSync(join(showcase.root, "CLAUDE.md"), "Be brief.\n");
  return [
    { name: "many", path: "/" },
    { name: "many-list", path: "/", act: openList },
    { name: "trust", path: "/", act: askToTrust },
  ];
}

async function openList(page: Page): Promise<void> {
  if ((page.viewportSize()?.width ?? 0) <= 760)
    await page.getByRole("button", { name: "Conversations" }).click();
}

async function openTeams(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Submit" }).click();
  await page.getByRole("button", { name: /^Team/ }).click();
}

/** The first look allows it; the others find it allowed. */
async function allow(page: Page): Promise<void> {
  const once = page.getByRole("button", { name: "Allow once" });
  const isThere = await once.waitFor({ timeout: 2_000 }).then(
    () => true,
    () => false,
  );
  if (!isThere) return;
  // It takes no click in its first half second.
  await page.locator(".agent-ask button.primary:not(:disabled)").waitFor();
  await once.click();
  await once.waitFor({ state: "detached" });
}

async function pick(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Agent:/ }).click();
}

async function pickMissing(page: Page): Promise<void> {
  await pick(page);
  await page.getByRole("menuitemradio", { name: /^Codex/ }).click();
}

async function searchNothing(page: Page): Promise<void> {
  await page.getByRole("textbox", { name: "Prompt" }).press("Escape");
  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Search everything" }).fill("zanzibar");
  await page.getByRole("dialog").getByText(/^No /).waitFor();
}

async function paletteNothing(page: Page): Promise<void> {
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Commands" }).fill("zanzibar");
}

async function cutOff(page: Page): Promise<void> {
  const open: (() => Promise<void>)[] = [];
  let isAway = false;
  await page.routeWebSocket(/\/v1\/feed/, (socket) => {
    if (isAway) return void socket.close();
    socket.connectToServer();
    open.push(() => socket.close());
  });
  await page.reload();
  await page.locator("article").first().waitFor();
  isAway = true;
  for (const close of open) await close();
  await page.getByText(/Reconnecting/).waitFor();
}

async function followUsedLink(page: Page): Promise<void> {
  await page.context().clearCookies();
  await page.goto(new URL("/?link=used-before", page.url()).href);
}

async function askToTrust(page: Page): Promise<void> {
  const prompt = page.getByRole("textbox", { name: "Prompt" });
  await prompt.fill("Round half up in discounted()");
  await prompt.press("Enter");
  await page.getByRole("dialog", { name: "Trust this folder?" }).waitFor();
}
