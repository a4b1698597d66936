"""Figures: one description of each, drawn as SVG, PNG, PDF or GIF.

spec                          a figure as data: panels, axes, marks
thinning                      at most 500 points a curve, no spike lost
styles                        one colour and dash a method, everywhere
ticks, lettering, isolines    where numbers stand, how wide text is, where a surface is level
layout, frame, svg, pixels, animation
                              from a description to a picture
convergence, bounds, plan_and_actual, spectrum, layers, percentiles, race
                              the figures
plot                          `tw.plot`: whichever figure a thing has
"""
