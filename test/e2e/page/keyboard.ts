/**
 * A reader without a mouse: presses keys, and looks where the focus is. Things are named by role and name, as a screen reader names
 * them. What has the focus has to be on the screen, not covered, and seen to have it.
 */
import type { Page } from "playwright-core";
import { expect } from "vitest";

type Role = Parameters<Page["getByRole"]>[0];

export class Keyboard {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async press(...keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  async type(text: string): Promise<void> {
    await this.page.keyboard.type(text);
  }

  /** It has the focus, or gets it presently; and that is seen. */
  async isAt(role: Role, name: string | RegExp): Promise<void> {
    await expect.poll(() => this.#where(), { timeout: 10_000 }).toMatch(at(role, name));
    expect(await this.page.evaluate(focusTrouble)).toBe("");
  }

  /** Presses a key until it has the focus. */
  async walk(key: string, role: Role, name: string | RegExp): Promise<void> {
    const passed: string[] = [];
    for (let i = 0; i < MOST_STEPS; i++) {
      // A step shows at the next frame; before it, the focus is where the last one led.
      await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
      const where = await this.#where();
      if (at(role, name).test(where)) return this.isAt(role, name);
      passed.push(where);
      await this.press(key);
    }
    throw new Error(`${key} does not come to ${role} ${name}, only to ${[...new Set(passed)].join(", ")}`);
  }

  /** A command by a few letters of its name. */
  async command(words: string, name: RegExp): Promise<void> {
    await this.press("Control+k");
    await this.isAt("combobox", "Commands");
    await this.type(words);
    await this.page.getByRole("option", { name }).and(this.page.locator("[aria-selected=true]")).waitFor();
    await this.press("Enter");
  }

  /** Role and name of what has the focus, as the browser tells assistive technology. */
  async #where(): Promise<string> {
    const tools = await this.page.context().newCDPSession(this.page);
    try {
      const { result } = await tools.send("Runtime.evaluate", { expression: INNERMOST });
      if (result.objectId === undefined) return "nothing";
      const { objectId } = result;
      const { nodes } = await tools.send("Accessibility.getPartialAXTree", {
        objectId,
        fetchRelatives: false,
      });
      return `${nodes[0]?.role?.value ?? ""} “${nodes[0]?.name?.value ?? ""}”`;
    } finally {
      await tools.detach();
    }
  }
}

const MOST_STEPS = 40;
/** What has the focus, also inside of an editor's own tree; nothing where the page has it. */
const INNERMOST = `(() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at === document.body ? undefined : at;
})()`;

function at(role: Role, name: string | RegExp): RegExp {
  const words = typeof name === "string" ? `^${name.replace(/[.*+?^$()|[\]{}\\]/g, "\\$&")}$` : name.source;
  const inner = words.replace(/^\^/, "").replace(/\$$/, "");
  return new RegExp(
    `^${role} “${words.startsWith("^") ? "" : ".*"}${inner}${words.endsWith("$") ? "" : ".*"}”$`,
    "is",
  );
}

/** Why a reader would not see what has the focus; nothing where they do. Runs in the page. */
function focusTrouble(): string {
  let element = document.activeElement as HTMLElement | null;
  while (element?.shadowRoot?.activeElement) element = element.shadowRoot.activeElement as HTMLElement;
  if (!element || element === document.body) return "nothing has the focus";
  const name = `${element.tagName.toLowerCase()}.${element.className}`;
  const box = element.getBoundingClientRect();
  const [left, right] = [Math.max(0, box.left), Math.min(innerWidth, box.right)];
  const [top, bottom] = [Math.max(0, box.top), Math.min(innerHeight, box.bottom)];
  if (right - left < 1 || bottom - top < 1) return `${name} is not on the screen`;
  const isSeen = [0.5, 0.1, 0.9].some((part) => {
    let hit = document.elementFromPoint(left + (right - left) / 2, top + (bottom - top) * part);
    while (hit?.shadowRoot) {
      const inner = hit.shadowRoot.elementFromPoint(left + (right - left) / 2, top + (bottom - top) * part);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    return hit !== null && (element.contains(hit) || hit.closest("label")?.contains(element) === true);
  });
  if (!isSeen) return `${name} is covered`;
  // A block is marked by a bar at its side.
  const hasBar = (each: Element) => {
    const { content, backgroundColor, width } = getComputedStyle(each, "::before");
    return content !== "none" && backgroundColor !== "rgba(0, 0, 0, 0)" && Number.parseFloat(width) >= 2;
  };
  const isMarked = (each: Element | null, depth: number): boolean => {
    if (!each || depth === 0) return false;
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(each);
    const hasOutline = outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 1;
    if (each === element && (hasOutline || boxShadow !== "none" || hasBar(each))) return true;
    // A field's frame may be drawn around it; a caret is seen in it.
    return hasOutline && each.matches(":focus-within") ? true : isMarked(each.parentElement, depth - 1);
  };
  const isField =
    element.isContentEditable || element.matches("textarea, input:not([type=radio], [type=checkbox])");
  if (isField && getComputedStyle(element).caretColor !== "transparent") return "";
  return isMarked(element, 4) ? "" : `${name} does not show that it has the focus`;
}
