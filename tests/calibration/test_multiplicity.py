"""Adjusted p values against statsmodels."""

import gc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from annotator.measures.multiplicity import benjamini_hochberg, holm

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=8)


@pytest.fixture(scope="module", autouse=True)
def little_garbage_to_search():
    """statsmodels collects garbage in each call: half a second once a process has loaded all."""
    gc.freeze()
    yield
    gc.unfreeze()


@settings(max_examples=30)
@given(p_lists)
def test_holm(p_values):
    oracle = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(oracle.tolist())


@settings(max_examples=30)
@given(p_lists)
def test_benjamini_hochberg(p_values):
    oracle = multipletests(p_values, method="fdr_bh")[1]
    assert benjamini_hochberg(p_values) == pytest.approx(oracle.tolist())


def test_nothing_to_adjust():
    assert holm([]) == benjamini_hochberg([]) == []
