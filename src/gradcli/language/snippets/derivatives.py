"""Calls that ask for derivatives: ``backward``, ``torch.autograd.grad``, ``jax.grad`` and their kind."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gradcli.errors import GradcliError
from gradcli.errors.suggest import INSTEAD_OF_CALL
from gradcli.language.snippets.callees import makes_input
from gradcli.language.snippets.functions import Functions
from gradcli.language.snippets.scopes import Closure, Derivative, Pullback, Scope, parts

GRADS = {
    "jax.grad": False,
    "jax.value_and_grad": False,
    "jax.elementwise_grad": True,
    "torch.func.grad": False,
    "torch.func.grad_and_value": False,
    "jax.jacobian": True,
    "jax.jacrev": True,
    "jax.jacfwd": True,
    "torch.func.jacrev": True,
    "torch.func.jacfwd": True,
    "torch.autograd.functional.jacobian": True,
}
"""What makes the derivative of a function; whether it is all of J."""
AT_A_POINT = {"torch.autograd.functional.jacobian", "torch.autograd.functional.vjp"}
"""Those that take the point beside the function."""
PULLBACKS = {"jax.vjp", "torch.func.vjp"}
SECOND = {
    *("jax.hessian", "torch.func.hessian", "torch.autograd.functional.hessian", "jax.jvp", "torch.func.jvp"),
    *(f"torch.autograd.functional.{name}" for name in ("jvp", "hvp", "vhp")),
}
"""What is no gradient of a first derivative by v, and has an option of its own."""
ASKING = {
    *GRADS,
    *PULLBACKS,
    *SECOND,
    "torch.autograd.grad",
    "torch.autograd.backward",
    "torch.autograd.functional.vjp",
}
"""What asks for derivatives, by its full name."""
NESTED = (ast.JoinedStr, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Asked:
    """A derivative that a snippet asks for.

    - ``output``: the expression that is differentiated, or the function with its arguments and the scope of these.
    - ``v``: the expression of v, None for the default; ``whole`` says that all of J is asked for.
    - ``inputs``: the expressions to differentiate by, None for all.
    - ``adds``: whether the gradient is added to ``.grad``.
    """

    output: ast.expr
    v: ast.expr | None = None
    inputs: tuple[ast.expr, ...] | None = None
    adds: bool = False
    function: Derivative | None = None
    arguments: tuple[ast.expr, ...] = ()
    pullback: Pullback | None = None


class Derivatives(Functions):
    """Finds what a statement asks to differentiate."""

    def asked_in(self, node: ast.AST, scope: Scope) -> Iterator[tuple[ast.Call, Asked]]:
        """Yield each call in an expression that asks for a derivative, with what it asks."""
        left = [node]
        while left:
            part = left.pop(0)
            asked = self.asked(part, scope) if isinstance(part, ast.Call) else None
            if asked is not None and isinstance(part, ast.Call):
                yield part, asked
            elif not isinstance(part, NESTED):
                left.extend(ast.iter_child_nodes(part))

    def asked(self, node: ast.Call, scope: Scope) -> Asked | None:
        """Return what a call asks to differentiate, None where it is no such call."""
        func, full = node.func, self.full(node.func, scope)
        keywords = {item.arg: item.value for item in node.keywords}
        if full in SECOND:
            hint = INSTEAD_OF_CALL[full.rpartition(".")[2]]
            raise GradcliError("not-allowed", f"{full} is not read in a snippet", hint=hint)
        if full in ("torch.autograd.grad", "torch.autograd.backward"):
            names = ("outputs", "inputs", "grad_outputs") if full.endswith("grad") else ("tensors", "grad_tensors")
            given = dict(zip(names, node.args, strict=False)) | keywords
            output, v = given.get(names[0]), given.get(names[-1])
            inputs = given.get("inputs")
            if output is None:
                raise GradcliError("arguments", f"{full} needs {names[0]}")
            adds = full.endswith("backward")
            return Asked(alone(output), None if v is None else alone(v), listed(inputs), adds)
        if full in AT_A_POINT and len(node.args) >= 2:
            arguments = listed(node.args[1]) or ()
            found = Derivative(node.args[0], scope, tuple(range(len(arguments))), full.endswith("jacobian"))
            v = node.args[2] if len(node.args) > 2 else keywords.get("v")
            return Asked(node.args[0], v, function=found, arguments=arguments)
        derivative = self.derivative_of(func, scope)
        if derivative is not None:
            return Asked(node, None, function=derivative, arguments=tuple(node.args))
        if isinstance(func, ast.Attribute) and func.attr == "backward" and full is None:
            v = node.args[0] if node.args else keywords.get("gradient")
            return Asked(func.value, None if is_none(v) else v, listed(keywords.get("inputs")), adds=True)
        held = scope.holds(func.id) if isinstance(func, ast.Name) else None
        if isinstance(held, Pullback):
            return Asked(func, node.args[0] if node.args else None, pullback=held)
        return None

    def derivative_of(self, node: ast.expr, scope: Scope) -> Derivative | None:
        """Return what an expression such as ``jax.grad(f)`` differentiates, None where it is none."""
        if isinstance(node, ast.Name):
            held = scope.holds(node.id)
            return held if isinstance(held, Derivative) else None
        if not isinstance(node, ast.Call) or not node.args:
            return None
        full = self.full(node.func, scope)
        if full in ("jax.jit", "torch.compile"):
            return self.derivative_of(node.args[0], scope)
        if full not in GRADS or full in AT_A_POINT:
            return None
        if self.derivative_of(node.args[0], scope) is not None:
            hint = INSTEAD_OF_CALL["hessian"]
            raise GradcliError("not-allowed", "a derivative of a derivative is not read in a snippet", hint=hint)
        keywords = {item.arg: item.value for item in node.keywords}
        places = listed(node.args[1] if len(node.args) > 1 else keywords.get("argnums")) or ()
        values = [place.value for place in places if isinstance(place, ast.Constant)]
        found = tuple(value for value in values if isinstance(value, int))
        if len(found) != len(places):
            raise GradcliError("not-allowed", "argnums are plain numbers: 0, or (0, 1)")
        return Derivative(node.args[0], scope, found or (0,), GRADS[full])

    def acts(self, nodes: Sequence[ast.AST], asking: bool = False, seen: tuple[ast.AST, ...] = ()) -> bool:
        """Return whether statements make inputs, ask for gradients or change them; ``asking`` is the second alone."""
        for part in parts(nodes):
            if isinstance(part, ast.Attribute) and part.attr == "grad" and not asking and self.names.full(part) is None:
                return True
            if not isinstance(part, ast.Call):
                continue
            method = part.func.attr if isinstance(part.func, ast.Attribute) else ""
            if method == "backward" or self.names.full(part.func) in ASKING:
                return True
            held = self.top.holds(part.func.id) if isinstance(part.func, ast.Name) else None
            if isinstance(held, Derivative | Pullback):
                return True
            if not asking and (method in ("step", "zero_grad", "requires_grad_") or makes_input(part)):
                return True
            if (
                isinstance(held, Closure)
                and held.node not in seen
                and self.acts([held.node], asking, (*seen, held.node))
            ):
                return True
        return False


def is_none(node: ast.expr | None) -> bool:
    """Return whether an argument is left out, or ``None``."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def listed(node: ast.expr | None) -> tuple[ast.expr, ...] | None:
    """Return the items of a display, or an expression by itself; None where there is none."""
    if node is None or is_none(node):
        return None
    return tuple(node.elts) if isinstance(node, ast.List | ast.Tuple) else (node,)


def alone(node: ast.expr) -> ast.expr:
    """Return the one item of a display, or an expression by itself; raises ``not-allowed`` for several."""
    if isinstance(node, ast.List | ast.Tuple):
        if len(node.elts) != 1:
            raise GradcliError("not-allowed", "several outputs at once are not part of gradcli: give their sum")
        return node.elts[0]
    return node
