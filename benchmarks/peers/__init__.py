"""What gradcli is held against: one small file for each peer, and the bare commands that nothing can be faster than.

Files that are run as scripts: ``bare_*``, ``explain_*``, ``jacobian_*``, ``loop_*``. Files that are imported, so that
all contestants run in one process: ``engine_*``.
"""
