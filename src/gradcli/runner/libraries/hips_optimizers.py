"""``autograd.misc.optimizers``: descents that call the script's own gradient once for each step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gradcli.runner.libraries.hips_autograd import flatten_it
from gradcli.runner.library import TABLE
from gradcli.runner.state import Run

Steps = Iterator[Any]
"""What yields the point of each step, and is sent the gradient there."""


def momentum(run: Run, x: Any, step_size: float = 0.1, mass: float = 0.9) -> Steps:
    """Yield the points of gradient descent with momentum."""
    o, velocity = run.operate, 0.0
    while True:
        g = yield x
        velocity = o("-", o("*", mass, velocity), o("*", 1.0 - mass, g))
        x = o("+", x, o("*", step_size, velocity))


def root_mean_square(run: Run, x: Any, step_size: float = 0.1, gamma: float = 0.9, eps: float = 10**-8) -> Steps:
    """Yield the points of RMSprop."""
    o, average = run.operate, 1.0
    while True:
        g = yield x
        average = o("+", o("*", average, gamma), o("*", o("**", g, 2), 1 - gamma))
        x = o("-", x, o("/", o("*", step_size, g), o("+", o("**", average, 0.5), eps)))


def adaptive(
    run: Run, x: Any, step_size: float = 0.001, b1: float = 0.9, b2: float = 0.999, eps: float = 10**-8
) -> Steps:
    """Yield the points of Adam."""
    o, first, second, power = run.operate, 0.0, 0.0, 0
    while True:
        g = yield x
        power += 1
        first = o("+", o("*", 1 - b1, g), o("*", b1, first))
        second = o("+", o("*", 1 - b2, o("**", g, 2)), o("*", b2, second))
        root = o("**", o("/", second, 1 - b2**power), 0.5)
        x = o("-", x, o("/", o("*", step_size, o("/", first, 1 - b1**power)), o("+", root, eps)))


def optimizer(steps: Callable[..., Any], name: str, turns: int) -> Callable[..., Any]:
    """Return an optimizer of nests of arrays, which takes so many turns by default."""

    def optimize(run: Run, grad: Any, x0: Any, callback: Any = None, num_iters: int = turns, *options: Any,
                 **named: Any) -> Any:  # fmt: skip
        x, unflatten = flatten_it(run, x0)
        walk = steps(run, x, *options, **named)
        x = next(walk)
        for turn in range(num_iters):
            given = run.call(unflatten, [x])
            g = flatten_it(run, run.call(grad, [given, turn]))[0]
            if callback is not None:
                run.call(callback, [given, turn, run.call(unflatten, [g])])
            x = walk.send(g)
        return run.call(unflatten, [x])

    optimize.__name__ = optimize.__qualname__ = name  # errors of a call say it
    return optimize


TABLE |= {
    f"autograd.misc.optimizers.{name}": optimizer(steps, name, turns)
    for name, steps, turns in (("sgd", momentum, 200), ("rmsprop", root_mean_square, 100), ("adam", adaptive, 100))
}
