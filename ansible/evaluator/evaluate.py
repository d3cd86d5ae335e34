"""Renders templates: `python -I evaluate.py`, one request on each line of standard input, one answer on each line of standard output.

The first line of its output says that it is ready, so that its start counts for no request. A request is {"templates": [{"name", "text"}], "variables": {}}; its answer is {"texts": [text]}, or {"error", "name"} for the first template
that cannot be rendered. Templates are foreign text: they get the variables and nothing else, they change nothing, and what they take is
limited here (memory, files, processes, size of a text) and from outside (time: an alarm in here cannot interrupt a long call). Who starts
this process gives it no environment and an empty folder. It ends with its standard input.
"""

from __future__ import annotations

import json
import os
import resource
import shlex
import sys
from typing import TextIO

from jinja2 import StrictUndefined, TemplateError
from jinja2.exceptions import TemplateSyntaxError
from jinja2.sandbox import ImmutableSandboxedEnvironment

MEMORY = 256 * 1024 * 1024
LARGEST_TEXT = 1024 * 1024
"""Bytes of one rendered text."""
_LONGEST_ERROR = 500


class TooLarge(Exception):
    """A rendered text is larger than it may be."""


def quote(value: object) -> str:
    """Returns the value as one word of a shell; what is no text as JSON, nothing as an empty word."""
    if value is None:
        return "''"
    return shlex.quote(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def render(text: str, variables: dict[str, object]) -> str:
    """Returns a template filled in. Raises TemplateError, TooLarge, and what the expressions in it raise."""
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters['quote'] = quote
    pieces: list[str] = []
    size = 0
    for piece in environment.from_string(text).generate(variables):
        size += len(piece.encode('utf-8', 'replace'))
        if size > LARGEST_TEXT:
            raise TooLarge(f'it makes more than {LARGEST_TEXT} bytes')
        pieces.append(piece)
    return ''.join(pieces)


def answer(request: dict) -> dict[str, object]:
    """Returns the answer to a request."""
    texts: list[str] = []
    for template in request['templates']:
        try:
            texts.append(render(template['text'], request['variables']))
        except MemoryError:
            return {'error': _lack(), 'name': template['name']}
        except Exception as error:  # Whatever an expression of a template raises is a mistake of the template.
            return {'error': _said(error), 'name': template['name']}
    return {'texts': texts}


def _lack() -> str:
    return f'it takes more than {resource.getrlimit(resource.RLIMIT_AS)[0]} bytes of memory'


def _said(error: Exception) -> str:
    if isinstance(error, TemplateSyntaxError):
        text = f'line {error.lineno}: {error.message}'
    elif isinstance(error, (TemplateError, TooLarge)):
        text = str(error)
    else:
        text = f'{type(error).__name__}: {error}'
    return text.encode('utf-8', 'replace').decode()[:_LONGEST_ERROR]


def limit(kind: int, most: int) -> None:
    """Limits what this process may take for good. A limit that is lower already, as `ulimit` of the worker sets it, stays."""
    _, hard = resource.getrlimit(kind)
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (least, least))


def main() -> None:
    """Answers requests until there are no more."""
    answers = os.fdopen(os.dup(1), 'w', encoding='utf-8')
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for kind, most in (
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        limit(kind, most)
    _write(answers, {'ready': True})
    for line in sys.stdin.buffer:
        try:
            _write(answers, answer(json.loads(line)))
        except MemoryError:
            _write(answers, {'error': _lack(), 'name': ''})


def _write(answers: TextIO, value: dict[str, object]) -> None:
    answers.write(json.dumps(value) + '\n')
    answers.flush()


if __name__ == '__main__':
    main()
