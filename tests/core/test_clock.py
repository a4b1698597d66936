import threading

import pytest

from thalweg.core.clock import COMPILING, Clock, Compiling, now


def test_a_clock_stands_while_something_is_compiled(wait):
    timed, begun = Clock(), now()
    wait(1.0)
    with COMPILING:
        wait(100.0)
    wait(2.0)
    assert now() - begun == 3.0
    assert (timed.seconds, timed.compiled) == (3.0, 100.0)


def test_it_stands_at_what_it_was_when_that_began(wait):
    timed = Clock()
    wait(1.0)
    with COMPILING:
        for compiled in (10.0, 20.0):
            wait(10.0)
            assert (timed.seconds, timed.compiled) == (1.0, compiled)


def test_a_clock_that_is_made_meanwhile_stands_too(wait):
    with COMPILING:
        wait(5.0)
        timed = Clock()
        wait(7.0)
    wait(1.0)
    assert (timed.seconds, timed.compiled) == (1.0, 7.0)


def test_what_is_compiled_within_another_counts_once(wait):
    timed = Clock()
    with COMPILING:
        wait(1.0)
        with COMPILING:
            wait(10.0)
        wait(2.0)
    assert (timed.seconds, timed.compiled) == (0.0, 13.0)


def test_threads_that_compile_at_the_same_time_count_once(wait):
    timed, both = Clock(), threading.Barrier(2)
    first_is_done = threading.Event()

    def first():
        with COMPILING:
            both.wait()
        first_is_done.set()

    def second():
        with COMPILING:
            both.wait()
            first_is_done.wait()
            wait(4.0)

    threads = [threading.Thread(target=each) for each in (first, second)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    wait(1.0)
    assert (timed.seconds, timed.compiled) == (1.0, 4.0)


def test_what_does_not_compile_ends_too(wait):
    def fail():
        with COMPILING:
            wait(3.0)
            raise ZeroDivisionError

    timed = Clock()
    with pytest.raises(ZeroDivisionError):
        fail()
    wait(1.0)
    assert (timed.seconds, timed.compiled) == (1.0, 3.0)


def test_a_clock_goes_on_from_what_was_spent(wait):
    timed = Clock()
    wait(1.0)
    timed.go_on(30.0, 4.0)
    with COMPILING:
        wait(2.0)
    assert (timed.seconds, timed.compiled) == (31.0, 6.0)


def test_a_moment_that_was_read_before_a_piece_began_has_none_of_it(wait):
    one = Compiling()
    wait(5.0)
    one.begin()
    assert one.until(1001.0) == 0.0


def test_what_is_left_out_is_no_work(monkeypatch):
    moment = [0.0]
    monkeypatch.setattr("thalweg.core.clock.perf_counter", lambda: moment[0])
    clock = Clock()
    moment[0] = 5.0
    clock.leave_out(3.0)
    assert clock.seconds == 2.0
