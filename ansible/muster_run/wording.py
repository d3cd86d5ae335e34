"""Texts of tasks made fit for an event: masked, free of control characters, short."""

from __future__ import annotations

import json
import re

from muster_run.masking import Masker

TEXT_LIMIT = 4096
"""Most bytes (UTF-8) of one text in an event."""

_ELLIPSIS = '…'
_ESCAPE_SEQUENCE = re.compile(r'\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))')
# NUL and lone surrogates cannot be stored as text by Postgres; line separators end a line for some readers of lines; the
# others would act on the terminal of whoever reads them, or turn the direction of what it shows.
_UNPRINTABLE = re.compile('[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]')


class Wording:
    """Cleans texts with the secrets of one run."""

    def __init__(self, masker: Masker) -> None:
        self._masker = masker

    def text(self, value: object, limit: int = TEXT_LIMIT) -> str:
        """The value as text of at most `limit` bytes; what is not a text is shown as JSON."""
        if not isinstance(value, str):
            value = _as_json(value)
        # Masked before it is shortened: half a secret is still half a secret.
        kept = value[: limit + self._masker.longest]
        was_cut = len(kept) < len(value)
        if self._masker.longest:
            raw = kept.encode('utf-8', 'surrogatepass')
            masked = self._masker.mask_beginning(raw) if was_cut else self._masker.mask(raw)
            kept = masked.decode('utf-8', 'replace')
        if not kept.isprintable():
            kept = _UNPRINTABLE.sub('\ufffd', _ESCAPE_SEQUENCE.sub('', kept))
        return shorten(kept, limit, was_cut)


def shorten(text: str, limit: int, was_cut: bool = False) -> str:
    """The beginning of a text that fits into `limit` bytes; one that was cut, here or before, ends with an ellipsis."""
    raw = text.encode()
    if len(raw) <= limit and not was_cut:
        return text
    return raw[: limit - len(_ELLIPSIS.encode())].decode('utf-8', 'ignore') + _ELLIPSIS


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError):
        return str(value)
