"""Claims about compiled code, one a function: its name is what it claims, and it asserts it."""
import sys

claims = []


def claim(function):
    claims.append(function)
    return function


def check():
    """Says of each claim whether it holds; ends the program, with a failure unless all do."""
    failed = 0
    for function in claims:
        title = function.__name__.replace("_", " ")
        try:
            function()
            print(f"{title}: holds")
        except AssertionError as error:
            failed += 1
            print(f"{title}: FAILS: {error}")
    sys.exit(failed != 0)
