"""Secrets in streams and texts."""

from __future__ import annotations

import itertools
import json

import pytest

from muster_run.masking import MASK, Masker
from muster_run.wording import Wording


def in_pieces(masker: Masker, pieces: tuple[bytes, ...]) -> bytes:
    return b''.join(masker.feed(piece) for piece in pieces) + masker.flush()


@pytest.mark.parametrize(
    ('secrets', 'text'),
    [
        (['secret'], b'a secret b secretsecret sec'),
        (['abc', 'abcdef'], b'abc abcdef abcde ab'),
        (['xxab', 'abc'], b'xxabc abxxab'),
        (['aaa'], b'aaaaaaa'),
        (['päss'], 'a päss b pä'.encode()),
    ],
)
def test_a_stream_is_masked_alike_however_it_is_cut(secrets: list[str], text: bytes) -> None:
    whole = Masker(secrets).mask(text)
    for first, second in itertools.combinations(range(len(text) + 1), 2):
        assert in_pieces(Masker(secrets), (text[:first], text[first:second], text[second:])) == whole
    assert in_pieces(Masker(secrets), tuple(bytes((byte,)) for byte in text)) == whole


def test_only_what_may_become_a_secret_is_held() -> None:
    masker = Masker(['secret'])
    assert masker.feed(b'progress 10%') == b'progress 10%'
    assert masker.feed(b' s') == b' '
    assert masker.feed(b'o') == b'so'
    assert masker.feed(b'sec') == b''
    assert masker.flush() == b'sec'


@pytest.mark.parametrize('spelling', ['raw', 'json', 'json ascii', 'percent', 'lines'])
def test_a_secret_is_found_in_every_spelling(spelling: str) -> None:
    secret = 'Grüße "an"\nline/two is & long'
    shown = {
        'raw': secret,
        'json': json.dumps({'msg': secret}, ensure_ascii=False),
        'json ascii': json.dumps({'msg': secret}),
        'percent': 'https://u:Gr%C3%BC%C3%9Fe%20%22an%22%0Aline%2Ftwo%20is%20%26%20long@host/',
        'lines': '    Grüße "an"\n    line/two is & long\n',
    }[spelling]
    masked = Masker([secret + '\n']).mask(shown.encode())
    assert MASK in masked
    for rest in (b'an\\"', b'line/two', b'line%2F'):
        assert rest not in masked


def test_blank_secrets_mask_nothing() -> None:
    masker = Masker(['', ' \n'])
    assert masker.feed(b' any text \n') == b' any text \n' and masker.longest == 0


def test_a_text_is_masked_before_it_is_shortened() -> None:
    secret = 's' + 'e' * 50
    for position in range(0, 140, 3):
        text = 'x' * position + secret * 3 + 'y' * 500
        shown = Wording(Masker([secret])).text(text, 100)
        assert 'e' not in shown, f'part of the secret at {position}: {shown}'
        assert len(shown.encode()) <= 100 and shown.endswith('…')


@pytest.mark.parametrize(
    ('value', 'shown'),
    [
        ('plain', 'plain'),
        ('two\nlines\tand tab', 'two\nlines\tand tab'),
        ('\x1b[31mred\x1b[0m \x1b]0;title\x07bell\x07', 'red bell\ufffd'),
        ('nul\0 surrogate\udcff c1\x9b', 'nul\ufffd surrogate\ufffd c1\ufffd'),
        ('line\u2028end \u202eright to left', 'line\ufffdend \ufffdright to left'),
        ({'a': [1, 'ä']}, '{"a": [1, "ä"]}'),
        (None, 'null'),
        ('ä' * 3000, 'ä' * 2046 + '…'),
    ],
)
@pytest.mark.parametrize('secrets', [(), ('sesame',)])
def test_texts_are_printable_and_short(value: object, shown: str, secrets: tuple[str, ...]) -> None:
    text = Wording(Masker(secrets)).text(value)
    assert text.replace('\ufffd' * 3, '\ufffd') == shown
    assert len(text.encode()) <= 4096
