"""The tests' register of ops and functions: importing this package fills it, from each of its modules."""

from importlib import import_module
from pkgutil import iter_modules

from gradcli import ops
from records.record import RECORDS, MoreExact, Record, has_derivative, missing_of_function, missing_of_op, torch_call

ops.load_all()
for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
OPS = {name: op for name, op in ops.OPS.items() if not missing_of_op(op, RECORDS.get(name))}
"""The ops whose record is whole, which all other tests try; tests/test_records.py names the others."""
FUNCTIONS = {
    name: function
    for name, function in ops.FUNCTIONS.items()
    if not missing_of_function(function, RECORDS.get(name)) and (not function.op or function.op.name in OPS)
}
"""The functions whose record is whole."""

__all__ = [
    "FUNCTIONS",
    "OPS",
    "RECORDS",
    "MoreExact",
    "Record",
    "has_derivative",
    "missing_of_function",
    "missing_of_op",
    "torch_call",
]
