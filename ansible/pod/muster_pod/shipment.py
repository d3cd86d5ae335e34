"""What a run leaves, on its way to Muster: events, output, results and exit status, each part until it has arrived.

All of it is in the run's files, so nothing is held here but how far Muster has got; while the ingest port is away, the files
are the spool.
"""

from __future__ import annotations

import os
import time
from typing import Any
from urllib.parse import quote

from .back_off import BackOff
from .ingest import Answer, Ingest
from .run_files import RunFiles
from .wording import log

_EVENTS_MAX = 1024 * 1024
_OUTPUT_MAX = 256 * 1024
_PART_MIN = 4 * 1024
_SILENCE_SECONDS = 30.0
"""After so long without a request Muster is asked, to find out whether it still wants the run."""
_HURRY_SECONDS = 0.5
"""The longest pause when this process is to end."""
_RESULTS_LOST = 74
"""Exit status, as Muster hears it, of a run that ended well and whose results could not be written (EX_IOERR)."""


def has_lost_results(run: RunFiles) -> bool:
    """Whether the hosts of an ended run reached what nobody could write down: its playbook began with the file of the results,
    ended well, and they never became whole.

    What writes no results at all, such as a run that only checks its playbook, does not begin with them; what was told to end
    need not have come to them.
    """
    end = run.exit
    if end is None or end['code'] != 0 or run.was_told_to_end:
        return False
    return run.results is None and os.path.exists(run.path('.results.json'))


class Shipment:
    """One run's way to Muster; `step` makes at most one request."""

    def __init__(self, ingest: Ingest, run: RunFiles) -> None:
        self._ingest = ingest
        self._run = run
        self._path = f'/runs/{quote(run.run_id, safe="")}'
        self._pauses = BackOff()
        self._hurries = False
        self._not_before = 0.0
        self._asked = 0.0
        self._placed = False
        self._lines = 0
        self._event_bytes = 0
        self._output_bytes = 0
        self._stalled_at = -1
        """Size of the output when Muster took nothing of it: half a character needs the rest."""
        self._events_open = True
        self._output_open = True
        self._part_max = _EVENTS_MAX
        self._results_sent = False
        self.done = False
        """Whether Muster has all of the run, or wants no more of it."""

    @property
    def wait(self) -> float:
        """Seconds until the next request may be made: more than 0 after one that failed."""
        return max(0.0, self._not_before - time.monotonic())

    def hurry(self) -> None:
        """This process has seconds left: from now on no pause is long, whoever asks for one."""
        self._hurries = True
        self._pauses = BackOff(longest=_HURRY_SECONDS)
        self._not_before = 0.0

    def step(self, ended: bool) -> bool:
        """Sends the next part; `ended`: the files grow no more. False when there is nothing to send now, or it has to wait.

        Raises TokenRefused.
        """
        if self.done or self.wait:
            return False
        if not self._placed or (not ended and time.monotonic() - self._asked > _SILENCE_SECONDS):
            return self._place()
        return self._send_events(ended) or self._send_output(ended) or (ended and self._send_end())

    def _place(self) -> bool:
        """Asks how far Muster has the run, and goes on from there."""
        answer = self._ask('GET', '')
        if answer is None:
            return True
        if answer.good and isinstance(answer.body, dict):
            self._seek(answer.body)
        else:
            log(f'{self._path}: {answer.status} {answer.said}; nothing more is sent of it')
            self.done = True
        self._placed = True
        return True

    def _seek(self, position: dict[str, Any]) -> None:
        lines, output_bytes = position.get('lines'), position.get('output_bytes')
        if isinstance(output_bytes, int):
            self._output_bytes = output_bytes
        if not isinstance(lines, int) or lines == self._lines:
            return
        if lines < self._lines:
            self._lines = self._event_bytes = 0
        while self._lines < lines:
            part = self._run.read('events.jsonl', self._event_bytes, _EVENTS_MAX)
            at = -1
            while self._lines < lines and (found := part.find(b'\n', at + 1)) >= 0:
                at = found
                self._lines += 1
            if self._lines < lines:
                at = len(part) - 1
            self._event_bytes += at + 1
            if not part:
                # Muster has more than there is here.
                self._lines = lines

    def _send_events(self, ended: bool) -> bool:
        if not self._events_open or self._run.size('events.jsonl') <= self._event_bytes:
            return False
        part = self._run.read('events.jsonl', self._event_bytes, self._part_max)
        taken = part.rfind(b'\n') + 1
        content = part[:taken]
        if not taken:
            if len(part) == self._part_max:
                # No event is that long: its place is kept, for the numbers of those that follow.
                taken, content = self._length_of_line(), b'\n'
            elif ended and part:
                taken, content = len(part), part + b'\n'
            if not taken:
                return False
        answer = self._ask('POST', f'/events?first_line={self._lines + 1}', content)
        if answer is None:
            return True
        if answer.good:
            before = self._lines
            self._lines += content.count(b'\n')
            self._event_bytes += taken
            self._check(answer)
            if self._lines <= before:
                self._rest(answer)
        elif not self._smaller_parts(answer):
            self._events_open = self._goes_on(answer, 'events')
        return True

    def _length_of_line(self) -> int:
        """Bytes of the line that begins here, with its end; 0 when it has none yet."""
        at = self._event_bytes
        while part := self._run.read('events.jsonl', at, _EVENTS_MAX):
            end = part.find(b'\n')
            if end >= 0:
                return at + end + 1 - self._event_bytes
            at += len(part)
        return 0

    def _send_output(self, ended: bool) -> bool:
        size = self._run.size('output.log')
        if not self._output_open or size <= self._output_bytes or (size == self._stalled_at and not ended):
            return False
        part = self._run.read('output.log', self._output_bytes, min(self._part_max, _OUTPUT_MAX))
        final = ended and self._output_bytes + len(part) >= size
        query = f'/output?offset={self._output_bytes}' + ('&final=true' if final else '')
        answer = self._ask('POST', query, part)
        if answer is None:
            return True
        if answer.good:
            before = self._output_bytes
            self._output_bytes += len(part)
            self._check(answer)
            taken = self._output_bytes > before
            self._stalled_at = -1 if taken else size
            if not taken and final:
                self._output_open = False
            elif not taken and ended:
                self._rest(answer)
        elif not self._smaller_parts(answer):
            self._output_open = self._goes_on(answer, 'output')
        return True

    def _send_end(self) -> bool:
        if not self._results_sent:
            results = self._run.results
            if results is not None:
                answer = self._ask('PUT', '/results', results)
                if answer is None:
                    return True
                if not answer.good:
                    self._goes_on(answer, 'results')
            self._results_sent = True
            return True
        exit_file = self._run.exit
        if exit_file is not None:
            # With 0 it would be a success of nobody, should Muster not have heard of the reason.
            if has_lost_results(self._run):
                exit_file['code'] = _RESULTS_LOST
            answer = self._ask('PUT', '/exit', exit_file)
            if answer is None:
                return True
            if not answer.good:
                self._goes_on(answer, 'exit status')
        self.done = True
        return True

    def _ask(self, method: str, path: str, body: bytes | dict[str, Any] | None = None) -> Answer | None:
        """The answer, or None when the same has to be asked again later."""
        self._asked = time.monotonic()
        answer = self._ingest.ask(method, self._path + path, body)
        if answer.may_pass:
            self._rest(answer)
            return None
        self._pauses.reset()
        return answer

    def _rest(self, answer: Answer) -> None:
        """Makes the next request wait."""
        pause = self._pauses.next(0.0 if self._hurries else answer.retry_after)
        self._not_before = time.monotonic() + pause
        log(f'{self._path}: {answer.status or "no answer"} {answer.said}; again in {pause:.1f} s')

    def _check(self, answer: Answer) -> None:
        """Goes on where Muster says that it is, which may be elsewhere than expected."""
        if isinstance(answer.body, dict):
            self._seek(answer.body)

    def _smaller_parts(self, answer: Answer) -> bool:
        if answer.code != 'body_too_large' or self._part_max <= _PART_MIN:
            return False
        self._part_max //= 2
        return True

    def _goes_on(self, answer: Answer, what: str) -> bool:
        """Whether to go on with this kind after a refusal: it is so when Muster is elsewhere, which has to be asked."""
        if answer.code == 'run_position':
            self._placed = False
            self._rest(answer)
            return True
        log(f'{self._path}: {what} not taken: {answer.status} {answer.said}')
        if answer.status == 404:
            self.done = True
        return False
