# What is run often; `just` alone lists it.
default:
    @just --list

# the tests of the README
test *args:
    pytest {{args}}

# style and types
lint:
    ruff check .
    ruff format --check .
    mypy

# pages that come from the code
pages:
    python docs/make_examples.py
    python docs/make_interface.py
    python docs/make_man.py
    python -m docs.make_index

# the site, on a port of this machine
site:
    mkdocs serve

# all that has to pass
ci:
    .ci/run
