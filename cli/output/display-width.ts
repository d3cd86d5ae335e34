/** How many columns of a terminal a text takes. */

/** Characters of the scripts that take two columns each: Hangul, kana, Han and what stands beside them, and full-width forms. */
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f2ff}\u{20000}-\u{3fffd}]/u;
/** A picture, or a sign that is asked to be shown as one. */
const PICTURE = /\p{Emoji_Presentation}|\ufe0f/u;
/** Marks that stand on the character before them, and signs that are not shown. */
const UNSEEN = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;
/** Sound marks that take a column of their own after a half-width kana. */
const SOUND_MARKS = /[\uff9e\uff9f]/g;
const PLAIN = /^[\x20-\x7e]*$/;

const CUT = '…';
const graphemes = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** Returns the columns that a text of one line takes; wide characters and pictures are two. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of graphemes.segment(text)) width += widthOfOne(segment);
  return width;
}

function widthOfOne(grapheme: string): number {
  if (PICTURE.test(grapheme) || WIDE.test(grapheme)) return 2;
  if (UNSEEN.test(grapheme)) return 0;
  return 1 + (grapheme.length > 1 ? [...grapheme.slice(1).matchAll(SOUND_MARKS)].length : 0);
}

/** Returns the text in at most so many columns, at least one; what is cut off is shown by `…`. */
export function cutTo(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let taken = '';
  let left = width - widthOf(CUT);
  for (const { segment } of graphemes.segment(text)) {
    left -= widthOfOne(segment);
    if (left < 0) break;
    taken += segment;
  }
  return `${taken.trimEnd()}${CUT}`;
}

/** Returns the text with blanks up to so many columns. */
export const padded = (text: string, width: number): string => text + ' '.repeat(Math.max(0, width - widthOf(text)));
