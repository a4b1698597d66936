"""All that the symptoms of a training are judged by, made once of its record."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from thalweg.core.record import Record
from thalweg.doctor.nets.facts.course import Course, course
from thalweg.doctor.nets.facts.measured import Measured, measured


@dataclass(frozen=True, eq=False)
class NetworkFacts:
    """A training that was watched."""

    record: Record  # layers, optimizers, and columns over steps and looks
    measured: Measured
    course: Course

    @cached_property
    def trained_layers(self) -> list[int]:
        """Places of layers with weights that are trained, in the order of the forward pass."""
        return [k for k, layer in enumerate(self.record.layers) if layer.trainable and layer.shape]


def network_facts(record: Record) -> NetworkFacts:
    """Of a record, made just now or by an earlier version."""
    known = measured(record)
    return NetworkFacts(record, known, course(record["loss"], known))
