"""How the HTML file of a recording looks: light and dark, wide and narrow, on paper."""

STYLE = """
:root{color-scheme:light dark;--line:#d5d7dd;--soft:#63676f;--user:#2f6fd0;--agent:#2e8555;--odd:#a34a00;
--bad:#b3261e;--back:#fff;--card:#f7f8fa;--text:#1b1d21}
@media(prefers-color-scheme:dark){:root{--line:#3a3d44;--soft:#a3a8b2;--user:#7fb0ff;--agent:#6fcf97;--odd:#ffb066;
--bad:#ff8a80;--back:#16181c;--card:#1e2126;--text:#e6e8ec}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:64rem;background:var(--back);color:var(--text);
font:15px/1.5 system-ui,sans-serif}
h1{font-size:1.3rem;margin:.2rem 0;overflow-wrap:anywhere}
h2{font-size:1rem;margin:1.6rem 0 .5rem;border-bottom:1px solid var(--line)}
h3{font-size:.95rem;margin:.8rem 0 .2rem}
p{margin:.3rem 0;overflow-wrap:anywhere}
.about,.also,small,.none{color:var(--soft)}
.also{font-size:.85rem;margin:.3rem 0 0}
.note{border-left:3px solid var(--odd);padding-left:.6rem}
article{background:var(--card);border-left:3px solid var(--line);border-radius:4px;padding:.4rem .7rem;margin:.4rem 0}
article.u{border-left-color:var(--user)}
article.a{border-left-color:var(--agent)}
article:target{outline:2px solid var(--user)}
article>b{font-variant-numeric:tabular-nums;color:var(--soft)}
article>i{font-style:normal;font-weight:600}
article>em{font-style:normal;color:var(--soft)}
.said{white-space:pre-wrap;overflow-wrap:anywhere;margin-top:.2rem}
details{margin:.4rem 0 0}
summary{cursor:pointer;color:var(--user)}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--back);border:1px solid var(--line);border-radius:4px;
padding:.5rem;margin:.4rem 0;font-size:.85rem;max-height:30rem;overflow:auto}
table{border-collapse:collapse;width:100%;margin:.3rem 0;font-size:.88rem}
th,td{text-align:left;vertical-align:top;padding:.15rem .6rem .15rem 0;border-bottom:1px solid var(--line)}
th{font-weight:600;color:var(--soft)}
td{overflow-wrap:anywhere}
td:first-child,td:nth-child(2),td:nth-child(3){white-space:nowrap;width:1%}
ul{margin:.3rem 0;padding-left:1.2rem}
.found{list-style:none;padding-left:0}
.found li{border-left:3px solid var(--line);padding-left:.6rem;margin:.5rem 0}
.found p{margin:.1rem 0}
b.error{color:var(--bad)}
b.warning{color:var(--odd)}
b.note{border:0;padding:0;color:var(--soft)}
a{color:var(--user)}
@media(max-width:40rem){body{padding:.5rem}table{font-size:.8rem}}
@media print{details>*{display:block}article{break-inside:avoid}}
""".strip()
