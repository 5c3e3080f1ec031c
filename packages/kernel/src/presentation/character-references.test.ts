/** Character references, as people and models write them. */
import { describe, expect, it } from "vitest";
import { decodeReferences } from "./character-references.ts";

describe("[V4] character references", () => {
  it.each([
    ["a &amp; b &lt;i&gt; &#39;&#x27;", "a & b <i> ''"],
    ["&copy; &eacute; &yuml; &frac12; &sup2;", "© é ÿ ½ ²"],
    ["&Omega; &omega; &sigmaf; &sigma; &alpha;", "Ω ω ς σ α"],
    ["&rarr; &hArr; &mdash; &ge; &there4;", "→ ⇔ — ≥ ∴"],
    ["&nope; &constructor; &toString; &amp &;", "&nope; &constructor; &toString; &amp &;"],
    ["&#0;&#xd800;&#27;&#x110000;", "\ufffd\ufffd\ufffd\ufffd"],
  ])("[V4] %j is %j", (text, expected) => {
    expect(decodeReferences(text)).toBe(expected);
  });
});
