"""Why a step of the pod fails."""

from __future__ import annotations


class StepFailure(Exception):
    """An expected failure: a code of Muster's catalogue of errors and a sentence without secrets."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


class TokenRefused(Exception):
    """The token of this session is not taken (any more), or its protocol is not spoken: there is nobody to work for."""
