"""Snippets: what people paste, with its imports, tensors, calls of backward and prints, as a program of the language.

Nothing of a text is executed: its syntax tree is read statement by statement (``reader``), functions are written out
(``functions``), and what the output depends on (``lines``) is checked as a program whose places are those of the
user's text (``building``). ``reading`` puts it together.
"""
