import os
import signal
import threading

import pytest

import thalweg as tw
from thalweg.running.interrupt import Interrupt


def press():
    os.kill(os.getpid(), signal.SIGINT)


def test_the_first_ctrl_c_is_noted_and_the_second_quits():
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        press()
        assert interrupt.requested
        with pytest.raises(KeyboardInterrupt):
            press()
    assert signal.getsignal(signal.SIGINT) is before


def test_a_run_ends_politely_and_can_go_on(tmp_path):
    file = tmp_path / "a.checkpoint"

    def run(callback=None):
        return tw.minimize(
            tw.surfaces.Rosenbrock(), "adam", tol=1e-9, max_iter=50, checkpoint=file,
            callback=callback,
        )  # fmt: skip

    stopped = run(lambda step: press() if step.iteration == 20 else None)
    assert stopped.outcome is tw.Outcome.INTERRUPTED
    assert stopped.iterations == 20
    whole = tw.minimize(tw.surfaces.Rosenbrock(), "adam", tol=1e-9, max_iter=50)
    assert run().w.tobytes() == whole.w.tobytes()


def test_other_threads_leave_signals_alone():
    before = signal.getsignal(signal.SIGINT)
    found = []

    def work():
        with Interrupt() as interrupt:
            found.append(signal.getsignal(signal.SIGINT) is before and not interrupt.requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [True]
