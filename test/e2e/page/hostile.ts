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
    ...TERMINAL,
    ...TAGS.map((tag) => tag.toUpperCase().replaceAll("CANARY", "CANARY")),
  ].map((payload) =>
    payload.replaceAll("CANARY", canary).replaceAll("HIT()", "(window.hits=(window.hits||0)+1)"),
  );
}
