import { shownText } from './shown-text.ts';

/** What of the page's address was dropped. */
export function DroppedNotice({ names }: { names: readonly string[] | undefined }) {
  if (names === undefined || names.length === 0) return null;
  return (
    <p role="status" aria-label="Notice">
      The address had a value that this page does not know: {names.map(shownText).join(', ')} is left out.
    </p>
  );
}
