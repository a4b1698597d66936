"""Reports: what a run, or several, came to, as one HTML file that needs nothing else.

subject       everything that a page may show
markup        pieces of HTML: tables, lists, code to copy, files to save
drawing       a figure in a page, in two widths
heading, matters, errors, plan, convergence, certificate, findings, layers, data, reproduce
              the sections, in this order; one without content is left out
style, script how a page looks, and the little that moves in it
document      a page with both in it, whose policy forbids every request
page          all of them as one document, of 1 MB at most
report        `tw.report`
"""
