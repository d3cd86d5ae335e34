"""What /proc says of this process: its command line, its environment and its name, as if it had been executed so."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence

_PR_SET_NAME = 15
_PR_SET_MM = 35
_PR_SET_MM_MAP = 14
_NO_FILE = 0xFFFFFFFF
_FIELDS = {
    'start_code': 26,
    'end_code': 27,
    'start_data': 45,
    'end_data': 46,
    'start_brk': 47,
    'start_stack': 28,
}
"""Numbers of the fields of /proc/<pid>/stat (proc(5)) that say where the parts of the memory are."""


class _MemoryMap(ctypes.Structure):
    """`struct prctl_mm_map` of Linux."""

    _fields_ = [
        *(
            (name, ctypes.c_uint64)
            for name in (
                'start_code',
                'end_code',
                'start_data',
                'end_data',
                'start_brk',
                'brk',
                'start_stack',
                'arg_start',
                'arg_end',
                'env_start',
                'env_end',
                'auxv',
            )
        ),
        ('auxv_size', ctypes.c_uint32),
        ('exe_fd', ctypes.c_uint32),
    ]


_held: list[ctypes.Array] = []
"""The kernel reads the texts from the memory of the process each time, so they stay."""


def set_title(argv: Sequence[str], env: Mapping[str, str], name: str) -> None:
    """Makes the kernel show these words, variables and this name. Raises OSError where the kernel refuses.

    Who looks for the processes of a run looks for a variable in their environment, so a process that was forked and
    not executed must show the variables that it works with. No privilege is needed for that (PR_SET_MM_MAP).
    """
    words = b''.join(os.fsencode(word) + b'\0' for word in argv)
    variables = b''.join(os.fsencode(f'{key}={value}') + b'\0' for key, value in env.items())
    text = ctypes.create_string_buffer(words + variables, len(words) + len(variables) + 1)
    start = ctypes.addressof(text)
    with open('/proc/self/stat', encoding='utf-8', errors='replace') as file:
        fields = file.read().rpartition(')')[2].split()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.sbrk.restype = ctypes.c_void_p
    shown = _MemoryMap(
        **{key: int(fields[number - 3]) for key, number in _FIELDS.items()},
        arg_start=start,
        arg_end=start + len(words),
        env_start=start + len(words),
        env_end=start + len(words) + len(variables),
        exe_fd=_NO_FILE,
    )
    tell, words_of_it = libc.prctl, (_PR_SET_MM, _PR_SET_MM_MAP, ctypes.byref(shown), ctypes.sizeof(shown), 0)
    # Last of all, since memory that is taken meanwhile moves it.
    shown.brk = libc.sbrk(0)
    if tell(*words_of_it) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    _held.append(text)
    libc.prctl(_PR_SET_NAME, ctypes.c_char_p(os.fsencode(name)[:15]), 0, 0, 0)
