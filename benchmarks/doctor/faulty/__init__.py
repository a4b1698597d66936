"""The faulty programs: each is a healthy one, changed, with the cause of its illness.

They are rewritten from published descriptions of faults and of the numbers that were seeded:
AutoTrainer's circle and blob models, TheDeepChecker's kinds of synthetic faults, DeepFD's lists
and ranges, DeepCrime's mutation operators, and questions that people asked in public.
"""

from doctor.faulty import inputs, loops, losses, steps, weights

FAULTY = [*steps.PROGRAMS, *weights.PROGRAMS, *inputs.PROGRAMS, *losses.PROGRAMS, *loops.PROGRAMS]
