/** What a formula is rendered as, and what never. */
import { expect, test } from "vitest";
import { type MathNode, mathTree } from "./math-tree.ts";

function told(node: MathNode | string): string {
  if (typeof node === "string") return node;
  return `${node.tag}(${node.children.map(told).join(" ")})`;
}

function tagsOf(node: MathNode | string): readonly string[] {
  return typeof node === "string" ? [] : [node.tag, ...node.children.flatMap(tagsOf)];
}

test.each([
  ["$x^2$", "msup(mi(x) mn(2))"],
  ["\\(\\frac{a}{b}\\)", "mfrac(mi(a) mi(b))"],
  ["$$\\sqrt{2}$$", "msqrt(mn(2))"],
])("[V24] %s is typeset", (source, expected) => {
  expect(told(mathTree(source) as MathNode)).toContain(expected);
});

test("[V24] invalid formulas are shown as source", () => {
  for (const source of ["$\\frac{a$", "$\\nosuchcommand$", "$}$"]) expect(mathTree(source)).toBeUndefined();
});

test("[V24] on lines of its own it is displayed, inside a line it is not", () => {
  expect(mathTree("$$x$$")?.attributes["display"]).toBe("block");
  expect(mathTree("$x$")?.attributes["display"]).not.toBe("block");
});

test.each([
  "$\\href{javascript:alert(1)}{x}$",
  "$\\includegraphics{https://e.example/p.png}$",
  '$\\class{a" onclick=x}{y}$',
  "$\\style{background:url(https://e.example)}{y}$",
  "$\\text{<script>alert(1)</script>}$",
])("[R37] %s makes nothing but MathML, without links, handlers and addresses", (source) => {
  const tree = mathTree(source);
  if (tree === undefined) return;
  for (const tag of tagsOf(tree)) expect(tag).toMatch(/^m|^none$/);
  const walk = (node: MathNode | string): void => {
    if (typeof node === "string") return;
    for (const name of Object.keys(node.attributes)) expect(name).not.toMatch(/^on|href|src|class/i);
    for (const value of Object.values(node.style)) expect(value).not.toContain("url");
    for (const child of node.children) walk(child);
  };
  walk(tree);
});

test("[R34] macros that grow without end, and formulas without end, are left unchanged", () => {
  const started = performance.now();
  expect(mathTree("$\\def\\a{\\a\\a}\\a$")).toBeUndefined();
  mathTree(`$${"{".repeat(1_900)}${"}".repeat(1_900)}$`);
  mathTree(`$${"x^".repeat(1_900)}$`);
  mathTree(`$${"\\frac{1}{".repeat(400)}x${"}".repeat(400)}$`);
  expect(performance.now() - started).toBeLessThan(5_000);
});
