import { musterError } from '../errors.ts';

/** What a shell, or whoever splits a text like one, takes apart or away. */
const TAKEN_APART = /[\s'"]/;
/** So much of a word is told, characters. */
const TOLD_MAX = 80;

/**
 * Words as one text for a program that takes it apart by itself: the entry point of a runner image made for CFS leaves that to its
 * shell, which splits at blanks and knows of no quotes (cfs-flows 1.5). Throws `container_config_invalid` for a word that it would
 * take for several: the rest of it would be another option, or another playbook.
 */
export function joinShellWords(words: readonly string[]): string {
  const broken = words.find((word) => TAKEN_APART.test(word));
  if (broken === undefined) return words.join(' ');
  const told = broken.length > TOLD_MAX ? `${broken.slice(0, TOLD_MAX)}...` : broken;
  const detail = `${told}: a runner image of profile compatible would take this word apart at its blanks and quotes`;
  throw musterError('container_config_invalid', detail);
}
