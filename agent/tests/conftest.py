"""Fixtures: servers that answer as a test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from gateway import Gateway


@pytest.fixture
def gateway() -> Iterator[Callable[..., Gateway]]:
    """Starts them; they are closed at the end."""
    started: list[Gateway] = []

    def start(*reactions: object, **options: object) -> Gateway:
        started.append(Gateway(*reactions, **options))
        return started[-1]

    yield start
    for one in started:
        one.close()
