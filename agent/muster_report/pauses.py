"""How long to wait, in seconds (cfs-flows 6.1, 9)."""

from email.utils import parsedate_to_datetime
from typing import Optional

RETRIES = 10
"""So often a request is made again before it counts as an attempt that failed."""
RETRIED_STATUSES = (500, 502, 503, 504)
"""Statuses that are worth the same request again."""
_LONGEST = 30
_LONGEST_ASKED = 120


def before_attempt(number: int) -> float:
    """Pause before attempt `number`, from 0: 0, 2, 4, up to 30."""
    return min(_LONGEST, 2 * number)


def before_retry(number: int) -> float:
    """Pause before retry `number` of a request, from 0: 0.5, 1, 2, up to 30."""
    return min(_LONGEST, 0.5 * 2**number)


def asked_for(retry_after: Optional[str], now: float) -> float:
    """Pause that a `Retry-After` asks for, as a number or a date; 0 without a usable one, 120 at most.

    `now` is in seconds since 1970. The limit is there because clocks are often wrong right after a boot.
    """
    text = (retry_after or '').strip()
    if text.isdigit():
        # More than four digits are above the limit anyway.
        return min(_LONGEST_ASKED, int(text[:5]))
    try:
        seconds = parsedate_to_datetime(text).timestamp() - now
    except (TypeError, ValueError, IndexError, OverflowError):
        return 0
    return max(0, min(_LONGEST_ASKED, seconds))
