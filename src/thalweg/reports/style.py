"""How a page looks: one column of text, light or dark as the reader's screen is, fit for print.

Colours are those of the figures, and tones of text whose contrast to their background is 4.5 : 1 or
more (WCAG 2.1, 1.4.3); what a colour tells, a sign or a word tells too. Rules for notes and labels
are of paragraphs, as figures have texts of these names as well.
"""

from __future__ import annotations

from thalweg.figures.styles import CODES
from thalweg.figures.svg import SWITCH

_NAMES = ("bg", "ink", "muted", "line", "soft", "link", "good", "good-bg", "warn", "warn-bg", "bad",
          "bad-bg", "info", "info-bg")  # fmt: skip
_LIGHT = ("#ffffff", "#1b1f24", "#59626b", "#e3e6ea", "#f5f7f9", "#0a5a8c", "#00664a", "#e6f5ef",
          "#7a5200", "#fbf2de", "#a03c00", "#fdece2", "#0a5a8c", "#e6f2fa")  # fmt: skip
_DARK = ("#15181c", "#e6e8eb", "#a3acb5", "#30363d", "#1e2328", "#7cc4f2", "#53d1a8", "#15302a",
         "#f0bf5c", "#332a14", "#ff9f6b", "#3a2318", "#7cc4f2", "#14293a")  # fmt: skip
CHOICES = (5, 3)  # most measures, and axes, of a figure with buttons


def _page(codes: tuple[str, ...]) -> str:
    return ";".join(f"--{name}:{code}" for name, code in zip(_NAMES, codes, strict=True))


def _figure(side: int) -> str:
    return ";".join(f"--tw-{name}:{codes[side]}" for name, codes in CODES.items())


def _shown() -> str:
    """The figure whose two buttons are pressed."""
    return "".join(
        f".plots:has([value=y{y}]:checked):has([value=x{x}]:checked) .y{y}.x{x}{{display:block}}"
        for y in range(CHOICES[0] + 1)
        for x in range(CHOICES[1])
    )


STYLE = f"""
:root{{color-scheme:light dark;{_page(_LIGHT)}}}
@media screen and (prefers-color-scheme:dark){{:root{{{_page(_DARK)}}}}}
@media print{{:root{{color-scheme:light}}.thalweg-figure{{{_figure(0)}}}}}
*{{box-sizing:border-box}}
html{{-webkit-text-size-adjust:100%}}
body{{margin:0;background:var(--bg);color:var(--ink);
font:1rem/1.6 system-ui,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;overflow-wrap:break-word}}
h1,h3,dt,dd,pre,code,tbody th,td{{overflow-wrap:anywhere}}
main{{max-width:46rem;margin:0 auto;padding:3.5rem 1.5rem 5rem}}
.eyebrow{{margin:0 0 .75rem;color:var(--muted);font-size:.8125rem;letter-spacing:.08em;
text-transform:uppercase}}
h1{{margin:0 0 1.75rem;font-size:1.875rem;line-height:1.25;font-weight:650;letter-spacing:-.015em;
text-wrap:balance}}
h2{{margin:0 0 1.5rem;font-size:1.3125rem;line-height:1.3;font-weight:650;letter-spacing:-.01em}}
h3{{margin:0 0 .5rem;font-size:1.0625rem;line-height:1.4;font-weight:650}}
p{{margin:0 0 1rem}}
a{{color:var(--link);text-underline-offset:.15em}}
section{{margin-top:3.25rem;padding-top:2.25rem;border-top:1px solid var(--line)}}
section>*:last-child{{margin-bottom:0}}
.verdict{{padding:1.25rem 1.5rem;border-radius:.625rem;margin:0 0 1.75rem}}
.verdict p{{margin:0}}
.verdict p+p{{margin-top:.375rem;color:var(--ink)}}
.verdict .word{{font-size:1.5rem;font-weight:700;letter-spacing:.02em;line-height:1.3}}
.verdict .sign{{display:inline-block;min-width:1.25em}}
.good{{--tone:var(--good);--tint:var(--good-bg)}}
.warn{{--tone:var(--warn);--tint:var(--warn-bg)}}
.bad{{--tone:var(--bad);--tint:var(--bad-bg)}}
.info{{--tone:var(--info);--tint:var(--info-bg)}}
.verdict,.badge{{color:var(--tone);background:var(--tint)}}
.badge{{display:inline-block;padding:.0625rem .5625rem;border-radius:1rem;font-size:.8125rem;
font-weight:600;line-height:1.5;white-space:nowrap}}
.why,.lead{{margin:0;max-width:40rem}}
nav{{margin-top:2rem;font-size:.9375rem;line-height:2}}
nav a{{margin-right:1.25rem;white-space:nowrap;text-decoration:none}}
nav a:hover{{text-decoration:underline}}
dl{{margin:0 0 1.75rem}}
dt{{color:var(--muted);font-size:.8125rem}}
dd{{margin:0;font-variant-numeric:tabular-nums}}
.facts{{display:grid;grid-template-columns:repeat(auto-fill,minmax(7.25rem,1fr));gap:1.125rem 1rem}}
.facts.large dd{{font-size:1.1875rem;font-weight:600;line-height:1.4}}
.lines>div{{display:grid;grid-template-columns:8.5rem 1fr;gap:0 1.5rem;padding:.5rem 0;
border-bottom:1px solid var(--line)}}
.lines>div:last-child{{border-bottom:0}}
.lines dt{{line-height:1.9}}
table{{width:100%;margin:0 0 1.75rem;border-collapse:collapse;font-size:.9375rem;
font-variant-numeric:tabular-nums}}
caption{{margin:0 0 .5rem;color:var(--muted);font-size:.8125rem;text-align:left}}
th,td{{padding:.5rem .75rem;border-bottom:1px solid var(--line);text-align:left;
vertical-align:baseline;font-weight:400}}
th:first-child,td:first-child{{padding-left:0}}
th:last-child,td:last-child{{padding-right:0}}
thead th{{color:var(--muted);font-size:.8125rem;vertical-align:bottom}}
tbody th{{font-weight:600}}
.n{{text-align:right;white-space:nowrap}}
.small{{color:var(--muted);font-size:.8125rem;font-weight:400}}
td .small{{display:inline-block;min-width:4.5em}}
dd .small{{display:block}}
table+p.note{{margin-top:-.75rem}}
p.note+.facts{{margin-top:1.75rem}}
p.note{{color:var(--muted);font-size:.875rem}}
ul{{margin:0 0 1rem;padding-left:1.25rem}}
li{{margin:.25rem 0}}
figure{{margin:0 0 2rem -.625rem}}
figure svg{{display:block}}
figcaption{{display:flex;gap:.75rem;align-items:baseline;min-height:1.5rem;padding-left:.625rem;font-size:.8125rem}}
figcaption a,figcaption button{{color:var(--muted);text-decoration:underline}}
figcaption button{{border:0;padding:0;background:none;font:inherit;cursor:pointer;
text-underline-offset:.15em}}
.choice{{display:flex;flex-wrap:wrap;gap:.375rem;align-items:center;margin:0 0 .75rem;padding:0;
border:0}}
.choice legend{{float:left;width:3.25rem;padding:0;color:var(--muted);font-size:.8125rem}}
.choice label{{cursor:pointer}}
.choice input{{position:absolute;opacity:0;width:1px;height:1px}}
.choice span{{display:block;padding:.1875rem .75rem;border:1px solid var(--line);
border-radius:1rem;font-size:.875rem}}
.choice input:checked+span{{border-color:var(--ink);background:var(--ink);color:var(--bg)}}
.choice input:focus-visible+span{{outline:2px solid var(--link);outline-offset:2px}}
.plots .plot{{margin-top:1.25rem}}
.plots figure{{margin-bottom:.5rem}}
.finding{{margin:0 0 2rem;padding:0 0 0 1.25rem;border-left:3px solid var(--tone)}}
.finding h3{{display:flex;flex-wrap:wrap;gap:.375rem .625rem;align-items:baseline}}
.finding h3 span:last-child{{display:inline-block}}
.finding h3 span:last-child::first-letter{{text-transform:uppercase}}
.finding .lines{{margin-bottom:1rem}}
p.label{{margin:0 0 .375rem;color:var(--muted);font-size:.8125rem}}
pre{{margin:0 0 1.25rem;padding:.875rem 1rem;border-radius:.5rem;background:var(--soft);
font:.875rem/1.55 ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;
white-space:pre-wrap}}
code{{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;
font-size:.875rem}}
.copied{{display:flex;gap:.75rem;align-items:flex-start;margin:0 0 1.25rem;border-radius:.5rem;
background:var(--soft)}}
.copied pre{{flex:1;min-width:0;margin:0;background:none}}
.copied button{{margin:.625rem .75rem 0 0;padding:.125rem .625rem;border:1px solid var(--line);
border-radius:.375rem;background:var(--bg);color:var(--ink);font:inherit;font-size:.8125rem;
cursor:pointer}}
details{{margin:0 0 .75rem}}
details[open]{{margin-bottom:1.5rem}}
summary{{margin-bottom:.5rem;color:var(--muted);font-size:.875rem;cursor:pointer}}
footer{{margin-top:4rem;color:var(--muted);font-size:.8125rem}}
@supports selector(:has(a)){{.plots .plot{{display:none}}{_shown()}}}
@media (max-width:560px){{
main{{padding:2rem 1rem 3rem}}
h1{{font-size:1.5rem;margin-bottom:1.25rem}}
section{{margin-top:2.5rem;padding-top:1.75rem}}
.verdict{{padding:1rem 1.125rem}}
.lines>div{{grid-template-columns:1fr}}
.choice legend{{float:none;width:100%;margin-bottom:.375rem}}
.facts,.facts.large{{grid-template-columns:repeat(2,1fr)}}
.stacks,.stacks caption,.stacks tbody,.stacks tr,.stacks th,.stacks td{{display:block;width:100%}}
.stacks thead{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}}
.stacks tr{{display:grid;grid-template-columns:1fr 1fr;gap:.125rem 2rem;align-items:baseline;
padding:.75rem 0;border-bottom:1px solid var(--line)}}
.stacks th,.stacks td{{padding:.125rem 0;border:0}}
.stacks td{{display:flex;justify-content:space-between;align-items:baseline;gap:.75rem;
text-align:right}}
.stacks td::before{{content:attr(data-head);color:var(--muted);font-size:.8125rem;text-align:left;
white-space:normal}}
.stacks td:not([data-head]){{justify-content:end}}
.dense{{font-size:.8125rem}}
.dense th,.dense td{{padding-left:.25rem;padding-right:.25rem}}
.dense th:first-child{{padding-left:0}}
.dense th:last-child,.dense td:last-child{{padding-right:0}}
.dense td .small{{display:block}}
}}
@media (max-width:380px){{
.dense{{font-size:.75rem}}
.dense th,.dense td{{padding-left:.125rem;padding-right:.125rem}}
.dense .badge{{padding:0 .25rem;font-size:.75rem}}
.dense .n{{white-space:normal}}
.stacks tr{{grid-template-columns:1fr}}
}}
@media print{{
body{{font-size:10.5pt}}
main{{max-width:none;padding:0}}
nav,button,figcaption,.choice{{display:none!important}}
section{{break-before:auto}}
h2,h3,caption{{break-after:avoid}}
figure,tr,.finding,.verdict{{break-inside:avoid}}
.verdict,.badge,pre{{border:1px solid var(--line)}}
details::details-content{{content-visibility:visible;display:block}}
}}
{SWITCH}
"""
