/**
 * The owner at the page, in a real browser: writes in the composer, chooses from its menus, presses the buttons and keys of what asks.
 * Everything is found by its role and name, as a person finds it. The page is opened once for a scenario and never reloaded.
 */
import { agentName } from "@blockyard/kernel";
import type { Browser, BrowserContext, Locator, Page } from "playwright-core";
import { Auth, ownerName } from "../../../packages/server/src/access/auth.ts";
import type { Lab, LabBlock, LabTurn } from "../clis/lab.ts";
import type { MatrixAgent } from "./agents.ts";
import type { Begun, Given, How, Owner } from "./owner.ts";

const MODES: Readonly<Record<string, string>> = {
  ...{ plan: "Plan", ask: "Ask", edits: "Accept edits", full: "Full access" },
};
const WAIT_MS = 60_000;

export class PageOwner implements Owner {
  readonly lacks = {};
  readonly #lab: Lab;
  readonly #agent: MatrixAgent;
  readonly #context: BrowserContext;
  readonly #page: Page;
  readonly #complaints: string[] = [];

  static async open(browser: Browser, lab: Lab, agent: MatrixAgent): Promise<PageOwner> {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    const page = await context.newPage();
    page.setDefaultTimeout(WAIT_MS);
    const owner = new PageOwner(lab, agent, context, page);
    const auth = new Auth(lab.home, ownerName(), Date.now);
    await page.goto(`${lab.server.url}/?link=${auth.makeLink()}`);
    await owner.#field.waitFor();
    return owner;
  }

  private constructor(lab: Lab, agent: MatrixAgent, context: BrowserContext, page: Page) {
    this.#lab = lab;
    this.#agent = agent;
    this.#context = context;
    this.#page = page;
    page.on("pageerror", (error) => this.#complaints.push(error.message));
  }

  get #field(): Locator {
    return this.#page.getByRole("textbox", { name: "Prompt" });
  }

  async begin(prompt: string, how: How): Promise<Begun> {
    await this.#atNewTask();
    await this.#choose(how);
    await this.#write(prompt);
    await this.#page.waitForURL(/\/c\/[^/]+$/);
    const conversation = decodeURIComponent(new URL(this.#page.url()).pathname.split("/").at(-1) ?? "");
    await this.#mark();
    return { conversation, turn: await this.#lab.newTurn(conversation, []) };
  }

  async start(conversation: string, prompt: string, how: How): Promise<string> {
    const before = await this.#lab.turns(conversation);
    await this.#choose(how);
    await this.#write(prompt);
    return this.#lab.newTurn(conversation, before);
  }

  async refused(prompt: string, how: How): Promise<string> {
    await this.#atNewTask();
    await this.#choose(how);
    await this.#write(prompt);
    const note = this.#page.getByRole("status").getByText(/^Couldn't send/);
    await note.first().waitFor();
    const said = (await note.first().textContent()) ?? "";
    // What was written is there again, and the next one is asked with the default model.
    await this.#until(
      "the prompt to be in its field again",
      async () => (await this.#field.inputValue()) === prompt,
    );
    await this.#field.fill("");
    await this.#pickModel("Default model");
    return said;
  }

  async answer({ block_id, metadata }: LabBlock, given: Given): Promise<void> {
    const { ask } = metadata;
    const panel = this.#page
      .locator(`[data-block="${block_id}"], [data-ask="${block_id}"]`)
      .getByRole("region", { name: /^Needs (approval|an answer)$/ });
    await panel.waitFor();
    if (given.answer?.questions) await this.#answerQuestions(panel, ask, given.answer.questions);
    else if (given.answer?.content) await this.#fillForm(panel, ask, given.answer.content);
    else if (given.answer?.suggestion !== undefined) await this.#take(panel, ask, given.answer.suggestion);
    else if (given.allow)
      await this.#press(panel.getByRole("button", { name: /^(Allow once|Approve)$/ }), panel);
    else await this.#deny(panel, given.message ?? "");
    await panel.waitFor({ state: "detached" });
  }

  async answerLate(ask: LabBlock, given: Given): Promise<boolean> {
    await this.answer(ask, given);
    return true;
  }

  async send(_conversation: string, prompt: string): Promise<void> {
    await this.#field.fill(prompt);
    await this.#page.getByRole("button", { name: "Send now" }).click();
  }

  async stop(): Promise<void> {
    await this.#stopButton.click();
  }

  async setMode(_conversation: string, mode: string): Promise<void> {
    await this.#pick("Mode", MODES[mode] ?? mode);
  }

  async editPlan(_ask: LabBlock, line: string): Promise<void> {
    const panel = this.#page.getByRole("region", { name: "Needs approval" });
    await panel.getByRole("button", { name: "Edit plan" }).click();
    const editor = this.#page.locator(".editor-host").getByRole("textbox");
    await editor.click();
    await this.#page.keyboard.press("Control+End");
    await this.#page.keyboard.type(`\n${line}`);
    await this.#page.getByRole("button", { name: "Done", exact: true }).click();
    await panel.getByText("was edited").waitFor();
  }

  async stopTask(): Promise<void> {
    const tasks = this.#page.getByRole("list", { name: "Background tasks" });
    await tasks.getByRole("button", { name: /^Stop/ }).first().click();
    await this.#until("the task to be gone", async () => (await tasks.count()) === 0);
  }

  /** As the list behind a slash names them. */
  async commands(): Promise<readonly string[]> {
    const list = this.#page.getByRole("listbox", { name: "Commands" });
    await this.#field.focus();
    await this.#page.keyboard.type("/");
    await list.waitFor();
    const rows = await list.getByRole("option").locator(".completion-name").allTextContents();
    await this.#field.fill("");
    return rows.map((row) => (row.trim().split(" ", 1)[0] ?? "").slice(1));
  }

  async serverGone(): Promise<void> {
    await this.#page.getByText("Reconnecting…").waitFor();
  }

  async serverBack(): Promise<void> {
    await this.#page.getByText("Reconnecting…").waitFor({ state: "detached" });
    const isSame = await this.#page.evaluate(() => (window as { isSame?: boolean }).isSame === true);
    if (!isSame) throw new Error("the page was loaded again");
  }

  async sawEnd(_conversation: string, { status, reason }: LabTurn): Promise<void> {
    const page = this.#page;
    const feet = page.locator("footer.turn");
    await this.#until("the end of the turn to be shown", async () => {
      if ((await feet.count()) === 0 || (await page.locator("footer.turn.running").count()) > 0) return false;
      const words = (await feet.last().textContent()) ?? "";
      if (reason === "cancelled") return words.includes("stopped");
      return status === "done"
        ? !/stopped|failed|interrupted/.test(words)
        : words.includes(reason ?? "failed");
    });
    await this.#until(
      "nothing to be shown as running",
      async () => (await this.#running()).length === 0,
    ).catch(async () => {
      throw new Error(`still shown as running: ${(await this.#running()).join(", ")}`);
    });
    if (this.#complaints.length > 0) throw new Error(`the page failed: ${this.#complaints.join("; ")}`);
  }

  async shown(): Promise<string> {
    const folder = process.env["MATRIX_PICTURES"];
    if (folder) await this.#page.screenshot({ path: `${folder}/${this.#agent.cli}-${Date.now()}.png` });
    return (await this.#page.locator("main").innerText()).slice(-400);
  }

  async close(): Promise<void> {
    await this.#context.close();
  }

  get #stopButton(): Locator {
    return this.#page.getByRole("button", { name: "Stop", exact: true });
  }

  /** What looks as if it went on. A request that a restart cut off still needs the owner, and its row may say so. */
  async #running(): Promise<readonly string[]> {
    const asks = this.#page.getByRole("region", { name: /^Needs (approval|an answer)$/ });
    const isAsked = (await asks.count()) > 0;
    const signs: Readonly<Record<string, Locator>> = {
      "a Stop button": this.#stopButton,
      "a turn": this.#page.getByText(/ is working…$/),
      "a state": this.#page.locator(isAsked ? ".state-running" : ".state-running, .state-needs"),
      "a spinner": this.#page.locator("main .spinner"),
      "a task": this.#page.getByRole("list", { name: "Background tasks" }),
      "a message": this.#page.getByRole("list", { name: "Queued messages" }),
    };
    const seen: string[] = [];
    for (const [sign, found] of Object.entries(signs)) if ((await found.count()) > 0) seen.push(sign);
    return seen;
  }

  async #atNewTask(): Promise<void> {
    if (new URL(this.#page.url()).pathname === "/") return;
    await this.#page.getByRole("link", { name: "New task" }).click();
    await this.#page.waitForURL((url) => url.pathname === "/");
  }

  /** A page that is loaded again does not know this any more. */
  async #mark(): Promise<void> {
    await this.#page.evaluate(() => {
      (window as { isSame?: boolean }).isSame = true;
    });
  }

  async #choose({ mode, model }: How): Promise<void> {
    await this.#pick("Agent", agentName(this.#agent.cli));
    if (model !== undefined) await this.#pickModel(model);
    await this.#pick("Mode", MODES[mode] ?? mode);
  }

  /** From a menu of the composer, unless it is chosen already. */
  async #pick(label: string, name: string): Promise<void> {
    const button = this.#page.getByRole("button", { name: new RegExp(`^${label}: `) });
    const isChosen = async () =>
      (await button.getAttribute("aria-label"))?.split(",", 1)[0] === `${label}: ${name}`;
    if (await isChosen()) return;
    await button.click();
    const menu = this.#page.getByRole("menu", { name: label });
    await menu
      .getByRole("menuitemradio")
      .filter({ hasText: new RegExp(`^${name}`) })
      .first()
      .click();
    await this.#until(`${label} to be ${name}`, isChosen);
  }

  /** By its name or id, typed into the field of the menu. */
  async #pickModel(name: string): Promise<void> {
    await this.#page.getByRole("button", { name: /^Model: / }).click();
    const menu = this.#page.getByRole("dialog", { name: "Model" });
    await menu.getByRole("combobox").fill(name);
    await menu.getByRole("option").first().waitFor();
    await this.#page.keyboard.press("Enter");
    await menu.waitFor({ state: "hidden" });
  }

  /** A slash command is completed from the list before it is sent. */
  async #write(prompt: string): Promise<void> {
    if (prompt.startsWith("/")) {
      await this.#field.fill("");
      await this.#field.focus();
      await this.#page.keyboard.type(prompt.slice(0, -1));
      const list = this.#page.getByRole("listbox", { name: "Commands" });
      await list
        .getByRole("option")
        .filter({ hasText: new RegExp(`^${prompt}(\\s|$)`) })
        .first()
        .click();
      await this.#until(
        "the command to be in the field",
        async () => (await this.#field.inputValue()).trim() === prompt,
      );
    } else await this.#field.fill(prompt);
    await this.#field.press("Enter");
  }

  async #answerQuestions(
    panel: Locator,
    ask: LabBlock["metadata"],
    answers: NonNullable<NonNullable<Given["answer"]>["questions"]>,
  ): Promise<void> {
    for (const [id, { chosen, text }] of Object.entries(answers)) {
      const { question } = ask.questions.find((each: { id: string }) => each.id === id);
      const group = panel.getByRole("group", { name: question });
      for (const label of chosen) await group.getByLabel(label).check();
      if (text !== undefined) await group.getByRole("textbox", { name: /^Your own answer/ }).fill(text);
    }
    await this.#press(panel.getByRole("button", { name: "Answer", exact: true }));
  }

  async #fillForm(
    panel: Locator,
    ask: LabBlock["metadata"],
    content: NonNullable<NonNullable<Given["answer"]>["content"]>,
  ): Promise<void> {
    for (const [name, value] of Object.entries(content)) {
      const { title } = ask.form.schema.properties[name] as { title?: string };
      const group = panel.getByRole("group", { name: title ?? name });
      for (const each of typeof value === "string" ? [value] : value) await group.getByLabel(each).check();
    }
    await this.#press(panel.getByRole("button", { name: "Submit" }));
  }

  async #take(panel: Locator, ask: LabBlock["metadata"], id: string): Promise<void> {
    const { label } = ask.suggestions.find((each: { id: string }) => each.id === id);
    const button = panel.getByRole("button").filter({ hasText: label.replaceAll("`", "") });
    const more = panel.getByRole("button", { name: "More answers…" });
    if ((await button.count()) === 0 && (await more.count()) > 0) await more.click();
    await this.#press(button);
  }

  /** Denies by keys: Escape leaves the field, Escape begins to deny, Enter sends the reason. */
  async #deny(panel: Locator, reason: string): Promise<void> {
    await this.#press(panel.getByRole("button", { name: /^Deny…/ }));
    await panel.getByRole("textbox", { name: "Reason for the agent" }).waitFor();
    await this.#page.keyboard.type(reason);
    await this.#page.keyboard.press("Enter");
  }

  /** By its number, where it has one, else by a click; as soon as it can be pressed. */
  async #press(button: Locator, panel?: Locator): Promise<void> {
    const key = panel && (await button.getAttribute("data-key"));
    if (!key) return button.click();
    await this.#until("the answer to be ready", () => button.isEnabled());
    await this.#field.focus();
    await this.#page.keyboard.press("Escape");
    await this.#page.keyboard.press(key);
  }

  #until(what: string, isSo: () => Promise<boolean>): Promise<boolean> {
    return this.#lab.wait(`${what} on the page`, async () => ((await isSo()) ? true : undefined));
  }
}
