/**
 * What an agent could print to get out of its block: HTML, SVG, links, images, styles, math and diagram fences, terminal
 * escapes, and names that become attributes. `CANARY` stands for a server that must never be asked for anything.
 */

const TAGS = [
  "<script>HIT()</script>",
  "<img src=x onerror=HIT()>",
  "<img src=CANARY/i.png>",
  "<svg onload=HIT()>",
  "<svg><script>HIT()</script></svg>",
  "<svg><image href=CANARY/s.png></svg>",
  "<iframe src=javascript:HIT()></iframe>",
  "<iframe src=CANARY/f></iframe>",
  "<object data=CANARY/o></object>",
  "<embed src=CANARY/e>",
  "<link rel=stylesheet href=CANARY/l.css>",
  "<link rel=icon href=CANARY/favicon.ico>",
  "<style>@import 'CANARY/s.css'; body{background:url(CANARY/b.png)}</style>",
  "<base href=CANARY/>",
  "<meta http-equiv=refresh content='0;url=CANARY/m'>",
  "<form action=CANARY/post><button>go</button></form>",
  "<details open ontoggle=HIT()>x</details>",
  "<video src=CANARY/v.mp4 autoplay onerror=HIT()>",
  "<audio src=CANARY/a.mp3 autoplay>",
  "<body onload=HIT()>",
  "<input autofocus onfocus=HIT()>",
  "<math><mtext><script>HIT()</script></mtext></math>",
  "<a href=javascript:HIT()>x</a>",
  "<div style=background:url(CANARY/d.png)>x</div>",
  "<portal src=CANARY/p></portal>",
  "<template><script>HIT()</script></template>",
  "<noscript><img src=CANARY/n.png></noscript>",
  "<!--><script>HIT()</script>-->",
  "<![CDATA[<script>HIT()</script>]]>",
  "</code></pre><script>HIT()</script>",
  '"><script>HIT()</script>',
  "'><img src=x onerror=HIT()>",
  "javascript:HIT()",
  "{{constructor.constructor('HIT()')()}}",
  "$" + "{HIT()}",
];

const MARKDOWN = [
  "![x](CANARY/md.png)",
  "![x][r]\n\n[r]: CANARY/ref.png",
  '![x](CANARY/a.png "t" onerror=HIT())',
  "[x](javascript:HIT())",
  "[x](JaVaScRiPt:HIT())",
  "[x](&#106;avascript:HIT())",
  "[x](java\tscript:HIT())",
  "[x](data:text/html,<script>HIT()</script>)",
  "[x](vbscript:HIT())",
  "<javascript:HIT()>",
  "[x]: javascript:HIT()\n\n[x]",
  "![](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+)",
  "```<script>HIT()</script>\ncode\n```",
  '```"onmouseover=HIT()\ncode\n```',
  '```mermaid\ngraph TD; A["<img src=x onerror=HIT()>"]\n```',
  "```html\n<script>HIT()</script>\n```",
  "$$\\href{javascript:HIT()}{x}$$",
  "$\\includegraphics{CANARY/tex.png}$",
  "| <script>HIT()</script> | ![](CANARY/t.png) |\n|---|---|\n| <img src=x onerror=HIT()> | [x](javascript:HIT()) |",
  "- <script>HIT()</script>\n- [ ] <img src=x onerror=HIT()>",
  "> <iframe src=CANARY/q></iframe>",
  "# <svg onload=HIT()>",
  "CANARY/autolink.png",
];

const TERMINAL = [
  "\u001b]52;c;SElU\u0007x",
  "\u001b]8;;javascript:HIT()\u001b\\x\u001b]8;;\u001b\\",
  "\u001b]0;<script>HIT()</script>\u0007x",
  "\u001b[2J\u001b[H<script>HIT()</script>",
  "\u009b31m<img src=x onerror=HIT()>",
  "\u001b[38;2;1;2;3;url(CANARY/ansi.png)mx",
  "\u202e<script>HIT()</script>",
  "\u001bP<script>HIT()</script>\u001b\\x",
];

/** Sources of diagrams that want out of the frame in which they are drawn. */
const DIAGRAMS = [
  'graph TD\n A["<img src=x onerror=HIT()>"] --> B["<svg onload=HIT()>"]',
  'graph TD\n A["<script>HIT()</script>"] --> B["<iframe src=CANARY/frame></iframe>"]',
  'graph TD\n A["#60;img src=x onerror=HIT()#62;"] --> B["&lt;img src=x onerror=HIT()&gt;"]',
  'graph TD\n A["</text></svg><script>HIT()</script>"]',
  'graph TD\n A["`**<img src=CANARY/md.png>**`"]',
  'graph TD\n A --> B\n click A "javascript:HIT()"\n click B href "CANARY/click" _top',
  "graph TD\n A\n click A call HIT()",
  "graph TD\n A\n style A fill:url(CANARY/fill.svg#a),background:url(CANARY/bg.png)",
  "graph TD\n A:::x\n classDef x fill:red;background-image:url(CANARY/class.png)",
  'graph TD\n A -->|"<img src=x onerror=HIT()>"| B\n linkStyle 0 stroke:url(CANARY/link.svg#a)',
  'flowchart TD\n A@{ img: "CANARY/img.png", label: "x", w: 60, h: 60 }',
  'flowchart TD\n A@{ icon: "CANARY/icon.svg", label: "x" }',
  '%%{init: {"securityLevel": "loose", "htmlLabels": true, "secure": []}}%%\ngraph TD\n A["<img src=x onerror=HIT()>"]',
  '%%{init: {"flowchart": {"htmlLabels": true}}}%%\ngraph TD\n A["<img src=CANARY/label.png onerror=HIT()>"]',
  '%%{init: {"themeCSS": "@import url(CANARY/theme.css); .node { fill: url(CANARY/t.svg#a) }"}}%%\ngraph TD\n A',
  '%%{init: {"themeVariables": {"primaryColor": "red; } @import url(CANARY/v.css); * { background: url(CANARY/v.png)"}}}%%\ngraph TD\n A',
  '%%{init: {"fontFamily": "x; } @font-face { font-family: y; src: url(CANARY/font.woff) } * { font-family: y"}}%%\ngraph TD\n A',
  '%%{init: {"__proto__": {"securityLevel": "loose", "hits": 1}}}%%\ngraph TD\n A["<img src=x onerror=HIT()>"]',
  '---\nconfig:\n  securityLevel: loose\n  htmlLabels: true\n---\ngraph TD\n A["<img src=x onerror=HIT()>"]',
  "sequenceDiagram\n participant A as <img src=x onerror=HIT()>\n link A: x @ javascript:HIT()\n A->>A: <svg onload=HIT()>",
  'sequenceDiagram\n participant A\n links A: {"x": "javascript:HIT()", "y": "CANARY/link"}\n properties A: {"class": "x", "icon": "CANARY/i.png"}\n A->>A: $$\\href{javascript:HIT()}{x}$$',
  'classDiagram\n class A["<img src=x onerror=HIT()>"]\n click A href "javascript:HIT()"\n callback A "HIT()"\n link A "CANARY/class"',
  'stateDiagram-v2\n s1 : <img src=x onerror=HIT()>\n [*] --> s1\n note right of s1 : <script>HIT()</script>\n click s1 "javascript:HIT()"',
  'gantt\n dateFormat YYYY-MM-DD\n <img src=x onerror=HIT()> :a, 2024-01-01, 3d\n click a href "javascript:HIT()"\n click a call HIT()',
  'erDiagram\n A ||--o{ B : "<img src=x onerror=HIT()>"\n A { string x "<svg onload=HIT()>" }',
  'pie title <img src=x onerror=HIT()>\n "<script>HIT()</script>" : 5',
  'gitGraph\n commit id: "<img src=x onerror=HIT()>" tag: "<svg onload=HIT()>"',
  "journey\n title <img src=x onerror=HIT()>\n section <svg onload=HIT()>\n  x: 5: <script>HIT()</script>",
  'C4Context\n Person(a, "<img src=x onerror=HIT()>", "x", $sprite="CANARY/sprite.png", $link="javascript:HIT()")\n UpdateElementStyle(a, $bgColor="url(CANARY/c4.svg#a)")',
  "timeline\n title <img src=x onerror=HIT()>\n 2002 : <script>HIT()</script>",
  "mindmap\n root((<img src=x onerror=HIT()>))\n  ::icon(CANARY)",
  'block-beta\n a["<img src=x onerror=HIT()>"]\n style a fill:url(CANARY/block.svg#a)',
  "quadrantChart\n title <img src=x onerror=HIT()>\n A:::x: [0.3, 0.6]\n classDef x color: url(CANARY/q.svg#a)",
  'xychart-beta\n title "<img src=x onerror=HIT()>"\n x-axis ["<svg onload=HIT()>"]\n bar [1]',
  'requirementDiagram\n requirement a {\n id: 1\n text: "<img src=x onerror=HIT()>"\n }\n element b {\n type: x\n docref: "javascript:HIT()"\n }',
];

/** The same, as sources. */
export function hostileDiagrams(canary: string): readonly string[] {
  return DIAGRAMS.map((source) => aimed(source, canary));
}

export function hostilePayloads(canary: string): readonly string[] {
  const wrapped = TAGS.flatMap((tag) => [
    tag,
    `text ${tag} text`,
    `\`\`\`\n${tag}\n\`\`\``,
    `**${tag}**`,
    `- ${tag}`,
    `[${tag}](${tag})`,
  ]);
  return [
    ...wrapped,
    ...MARKDOWN,
    ...DIAGRAMS.map((source) => `\`\`\`mermaid\n${source}\n\`\`\``),
    ...TERMINAL,
    ...TAGS.map((tag) => tag.toUpperCase().replaceAll("CANARY", "CANARY")),
  ].map((payload) => aimed(payload, canary));
}

function aimed(payload: string, canary: string): string {
  return payload.replaceAll("CANARY", canary).replaceAll("HIT()", "(window.hits=(window.hits||0)+1)");
}
