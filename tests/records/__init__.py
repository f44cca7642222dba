"""The tests' register of ops and functions: importing this package fills it, from each of its modules."""

from importlib import import_module
from pkgutil import iter_modules

from gradcli import ops
from oracles import cases
from records.record import RECORDS, Record, has_derivative, missing_of_function, missing_of_op, torch_call

ops.load_all()
for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")
OPS = {name: op for name, op in ops.OPS.items() if not missing_of_op(op, RECORDS.get(name))}
"""The ops whose record is whole, which all other tests try; tests/test_records.py names the others."""
_TABLES = cases("recipes.toml")
RANGES = _TABLES.pop("ranges")
"""Those of the arguments of functions that work entry by entry, by name, where they are not from -3 to 3."""
RECIPES = {name: texts for table in _TABLES.values() for name, texts in table.items()}
"""The calls of each function for random programs."""
FUNCTIONS = {
    name: function
    for name, function in ops.FUNCTIONS.items()
    if not missing_of_function(function, RECIPES.get(name, ())) and (not function.op or function.op.name in OPS)
}
"""The functions that have such calls, or are ops of numbers alone."""

__all__ = ["FUNCTIONS", "OPS", "RANGES", "RECIPES", "RECORDS", "Record", "has_derivative", "torch_call"]
__all__ += ["missing_of_function", "missing_of_op"]
