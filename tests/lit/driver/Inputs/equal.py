"""Fails unless two .npy files hold the same shape and nearly the same values: equal.py EXPECTED COMPUTED."""

import sys

import numpy

expected, computed = (numpy.load(path) for path in sys.argv[1:])
numpy.testing.assert_allclose(computed, expected, rtol=0, atol=2e-5, equal_nan=False)
