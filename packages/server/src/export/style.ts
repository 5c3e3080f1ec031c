/**
 * How an exported page looks: the page's colours, light and dark, in one small sheet. It is part of the file's policy by
 * its hash, so nothing else can style the page.
 */

export const STYLE = `
:root{--bg:#fff;--text:#1b2424;--dim:#586666;--line:#e2e6e6;--sunk:#f4f6f6;--accent:#0f766e;--ok:#15803d;--bad:#b42318;
--warn:#9a5b00;--add:#e6f6ea;--del:#fdecea;--term:#f1f4f4;--term-text:#1d2628;--user:#e2f1ef;--t-keyword:#9333a8;--t-string:#1a7f37;
--t-number:#a04100;--t-comment:#65737a;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--bg:#14191a;--text:#dfe7e7;--dim:#9aa8a8;--line:#2a3334;--sunk:#1a2021;
--accent:#4fb8ac;--ok:#5cc68a;--bad:#f28b80;--warn:#e0b062;--add:#14301f;--del:#3a1b1a;--term:#0d1112;--term-text:#d3dcdc;--user:#15302e;
--t-keyword:#cf96e6;--t-string:#8fd0a0;--t-number:#eaa978;--t-comment:#84939a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:60rem;padding:1rem;background:var(--bg);color:var(--text);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",sans-serif;overflow-wrap:anywhere}
h1{font-size:1.4rem;margin:.5rem 0}
.h{font-weight:600;margin:1em 0 .4em}.h2{font-size:1.2rem}.h3{font-size:1.1rem}
a{color:var(--accent)}
pre,code{font-family:ui-monospace,"SF Mono","JetBrains Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
.math{font-family:ui-monospace,Menlo,Consolas,monospace;font-size:.92em;white-space:pre-wrap}
pre{margin:.4rem 0;padding:.5rem .75rem;background:var(--sunk);border-radius:6px;overflow-x:auto;white-space:pre-wrap}
pre.terminal,pre.command{background:var(--term);color:var(--term-text)}
.numbered{display:flex}.numbered .gutter{color:var(--dim);text-align:right;padding-right:.25rem;user-select:none;flex:none}
.numbered .code{flex:1;min-width:0;white-space:pre}
.unseen{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.block{margin:.35rem 0;position:relative}
.said,.report,.thought{max-width:42rem}
.speaker{margin:1.4rem 0 .3rem;font-size:.85rem;color:var(--dim)}.speaker-name{font-weight:600;color:var(--text)}
.kind-text.role-user{background:var(--user);padding:.1rem 1rem;border-radius:4px 14px 14px 14px;width:fit-content;max-width:44rem}
.role-user .said :is(p,li){white-space:pre-line}
.who{font-weight:600;color:var(--accent)}
.gathered>summary,.tool>summary,.thinking>summary{color:var(--dim);font-size:.88rem;padding:.1rem 0}
.gathered[open]{border-left:1px solid var(--line);padding-left:.75rem}
.tool-line .tool-params{color:var(--text)}.counts{font-size:.8rem;color:var(--dim)}
.head:empty{display:none}
.notice,.thought{color:var(--dim)}
.notice-text{white-space:pre-wrap}
.dim,.foot,.sources{color:var(--dim)}.foot,.sources{font-size:.85rem}
.excerpt{margin-top:.2rem}details[open]+.excerpt{display:none}
.ok{color:var(--ok)}.bad,.error,.failed,.stderr{color:var(--bad)}.warn{color:var(--warn)}
summary{cursor:pointer}
.tool-name{font-weight:600}
.results,.nested,.branch{margin-left:1rem;padding-left:.75rem;border-left:2px solid var(--line)}
.is-pruned{opacity:.55}
.diff ins{background:var(--add);text-decoration:none;display:inline-block;min-width:100%}
.diff del{background:var(--del);text-decoration:none;display:inline-block;min-width:100%}
.hunk{color:var(--dim)}
.change-add{color:var(--ok)}.change-modify{color:var(--warn)}.change-delete{color:var(--bad)}
.todo{list-style:none;padding-left:.5rem}.todo-completed{color:var(--dim);text-decoration:line-through}
.picture,img{max-width:100%;height:auto}
.wide{overflow-x:auto}table{border-collapse:collapse}th,td{border:1px solid var(--line);padding:.25rem .6rem}
.left{text-align:left}.right{text-align:right}.center{text-align:center}
:is(.said,.report,.thought) :is(p,li,h1,h2,h3,h4,h5,h6,th,td){unicode-bidi:plaintext}
:is(.said,.report,.thought) code{direction:ltr;unicode-bidi:isolate}
blockquote{margin:.5rem 0;padding-left:.9rem;border-left:3px solid var(--line);color:var(--dim)}
.turn{border-top:1px solid var(--line);margin:1rem 0;padding-top:.3rem;font-size:.85rem}
.t-keyword{color:var(--t-keyword)}.t-string{color:var(--t-string)}.t-number{color:var(--t-number)}.t-comment{color:var(--t-comment)}
.a-bold{font-weight:700}.a-dim{opacity:.7}.a-italic{font-style:italic}.a-under{text-decoration:underline}
.a-0{color:light-dark(#3b4548,#8a9494)}.a-1{color:light-dark(#b3261e,#f28b80)}.a-2{color:light-dark(#136b38,#7fd08f)}
.a-3{color:light-dark(#825100,#e0b062)}.a-4{color:light-dark(#1c58c9,#8fb6f5)}.a-5{color:light-dark(#8a2ca0,#cf96e6)}
.a-6{color:light-dark(#0b6a72,#4fb8ac)}.a-7{color:light-dark(#4f5b5e,#e7eeee)}
@media print{.excerpt{display:none}details>*{display:block}}
`;
