"""Ctrl-C."""

import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import tessera

# A shell that starts a program in the background has it ignore SIGINT; these tests want Python's usual handler.
SLOW = """
    import signal, tessera
    signal.signal(signal.SIGINT, signal.default_int_handler)
    problem = tessera.Problem(tessera.Mesh.box([16, 16]), "transport", degree=4, b=["1", "y"], a=0.01, f=1,
                              boundary={"all": 0}, time={"end": 1e3, "step": 1e-3})
    print("begins", flush=True)
    try:
        problem.solve()
    except KeyboardInterrupt:
        print("interrupted after", problem.info["step"], flush=True)
        problem.step()
        print("goes on", flush=True)
"""


def test_ctrl_c_ends_a_solve():
    """The process hears it while the library computes, and goes on afterwards."""
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(SLOW)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        try:
            output = process.communicate(timeout=30)[0]
        finally:
            process.kill()
    assert output.startswith("interrupted after") and output.endswith("goes on\n") and process.returncode == 0


@pytest.fixture
def sigint():
    """Sets the handler of SIGINT for a test."""
    before = signal.getsignal(signal.SIGINT)
    yield lambda handler: signal.signal(signal.SIGINT, handler)
    signal.signal(signal.SIGINT, before)


def test_handler_is_given_back(sigint):
    """After a call Python has its own handler."""
    sigint(signal.default_int_handler)
    tessera.Problem(tessera.Mesh.box([4, 4])).solve()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)
        time.sleep(1)


def test_ignored_signals_stay_ignored(sigint):
    """As in the background of a shell."""
    sigint(signal.SIG_IGN)

    def f(x, y):
        signal.raise_signal(signal.SIGINT)
        return 0 * x

    tessera.Problem(tessera.Mesh.box([4, 4]), f=f).solve()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def long_run():
    """A context, and a problem of a million steps."""
    context = tessera.Context("cpu", threads=1)
    problem = tessera.Problem(
        tessera.Mesh.box([16, 16], context=context),
        "transport",
        degree=4,
        f=1,
        boundary={"all": 0},
        time={"end": 1e3, "step": 1e-3},
    )
    return context, problem


def test_interrupt_from_a_thread():
    """Context.interrupt() raises Interrupted, where the computation runs."""
    context, problem = long_run()
    timer = threading.Timer(0.3, context.interrupt)
    timer.start()
    with pytest.raises(tessera.Interrupted):
        problem.solve()
    timer.join()


def test_gil_is_released():
    """Another thread runs while the library computes."""
    context, problem = long_run()
    count, done = [0], threading.Event()

    def work():
        while not done.is_set():
            count[0] += 1
            time.sleep(0.005)

    thread = threading.Thread(target=work)
    thread.start()
    threading.Timer(0.4, context.interrupt).start()
    with pytest.raises(tessera.Interrupted):
        problem.solve()
    done.set()
    thread.join()
    assert count[0] > 5
