"""Foreign text in the log."""

_MOST = 500


def one_line(text: str) -> str:
    """The text without line ends and other characters that a terminal acts on, cut after 500 characters."""
    shown = ''.join(character if character.isprintable() else ' ' for character in text[: 2 * _MOST])
    line = ' '.join(shown.split())
    return line if len(line) <= _MOST else line[:_MOST] + '...'
