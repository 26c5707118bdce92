"""Texts and wide numbers as words of bits: every value has its own word, in batch as one by one."""

from __future__ import annotations

import traceback

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deniable.batch.word_encoding import WordEncoder
from deniable.core import Text, Whole, domain_from_recipe
from deniable.errors import InvalidDomain, OutOfDomain

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)


@given(TEXTS)
def test_a_text_comes_back_from_its_word(text: str) -> None:
    domain = Text(8)
    if len(text.encode()) <= 8:
        word = domain.encode(text)
        assert 0 <= word < 1 << 64
        assert domain.decode(word) == text
        assert WordEncoder(domain)(np.array([text])).view(np.uint64).tolist() == [word]
    else:
        with pytest.raises(OutOfDomain):
            domain.encode(text)
        with pytest.raises(OutOfDomain):
            WordEncoder(domain)(np.array([text]))
        assert domain.encode(domain.clip(text)) == domain.encode(domain.clip(domain.clip(text)))


@given(st.integers(0, (1 << 64) - 1))
def test_words_are_texts_or_refused(word: int) -> None:
    try:
        text = Text(8).decode(word)
    except OutOfDomain:
        return
    assert Text(8).encode(text) == word


def test_a_beginning_of_a_text_is_a_prefix_of_its_word() -> None:
    assert Text(6).encode("heart") >> 16 == Text(4).encode("hear")


@pytest.mark.parametrize("value", ["secret!", "sec\0ret", "sec\udc80", b"secret", 5, None, ["secret"], "épée!!"])
def test_what_is_no_text_is_refused_without_being_shown(value: object) -> None:
    with pytest.raises(OutOfDomain) as caught:
        Text(6).encode(value)
    assert "sec" not in "".join(traceback.format_exception(caught.value)).replace('"secret', "")
    with pytest.raises(OutOfDomain):
        WordEncoder(Text(6))(np.array([value], object))


@pytest.mark.parametrize("text", ["secret!", "s\0t", "s\udc80"])
def test_arrays_of_texts_are_refused_alike(text: str) -> None:
    with pytest.raises(OutOfDomain) as caught:
        WordEncoder(Text(6))(np.array(["good", text]))
    assert caught.value.__context__ is None


def test_numbers_of_64_bits() -> None:
    numbers = [0, 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    found = WordEncoder(Whole(64))(np.array(numbers, np.uint64))
    assert found.view(np.uint64).tolist() == numbers == [Whole(64).encode(number) for number in numbers]
    for bad in ([-1], [8]):
        with pytest.raises(OutOfDomain):
            WordEncoder(Whole(3))(np.array(bad))
        with pytest.raises(OutOfDomain):
            Whole(3).encode(bad[0])
    assert Whole(3).clip(9) == 7
    with pytest.raises(OutOfDomain):
        WordEncoder(Whole(3))(np.array([1.0]))


def test_recipes() -> None:
    for domain in (Text(6), Whole(64)):
        assert domain_from_recipe(domain.recipe()) == domain
    for build in (lambda: Text(9), lambda: Text(0), lambda: Whole(65), lambda: Whole(True), lambda: Text("6")):  # type: ignore[arg-type]
        with pytest.raises(InvalidDomain):
            build()
