/** A status: colour, icon and word. */
const ICONS = {
  configured: '✓',
  complete: '✓',
  pending: '◷',
  running: '▶',
  failed: '✗',
  unconfigured: '○',
  disabled: '▬',
} as const;
export type StatusWord = keyof typeof ICONS;

export function StatusBadge({ word }: { word: StatusWord }) {
  return (
    <span className={`status ${word}`}>
      <span aria-hidden="true" className="icon">
        {ICONS[word]}
      </span>{' '}
      {word}
    </span>
  );
}
