/** Names of variables from the keys of a resource, as the reference operator makes them. */

const INITIALISMS = ['HTTP', 'URL', 'IP'] as const;
const SEPARATORS = ' _-';

/** Returns a key in snake case: `maxReplicaCount` is `max_replica_count`, `PascalCase` is `_pascal_case`. A blank key stays. */
export function toSnake(key: string): string {
  const spaced = key.replace(/([a-zA-Z])(\d+)([a-zA-Z]\d+)/g, '$1 $2 $3').replace(/^ +| +$/g, '');
  if (spaced === '') return key;
  const prefix = isUpper(spaced[0]) ? '_' : '';
  const words = wordsOf(INITIALISMS.reduce(splitInitialism, spaced)).map((word) => word.toLowerCase());
  const beginsWithInitialism = INITIALISMS.some((initialism) => initialism.toLowerCase() === words[0]);
  return `${beginsWithInitialism ? '' : prefix}${words.join('_')}`;
}

/** Sets the first occurrence of an initialism, with its plural, apart from what stands around it. */
function splitInitialism(text: string, initialism: string): string {
  const at = text.indexOf(initialism);
  if (at < 0) return text;
  const before = text.slice(0, at);
  const after = text.slice(at + initialism.length);
  if (after === '') return `${before}_${initialism}`;
  if (after.startsWith('s')) {
    const more = after.slice(1);
    return `${at === 0 && more !== '' ? '' : `${before}_`}${initialism}S${more === '' ? '' : `_${more}`}`;
  }
  return `${at === 0 ? '' : `${before}_`}${initialism}_${after}`;
}

/** Words end at separators and where the case changes; of several capitals the last one belongs to the word that follows. */
function wordsOf(text: string): string[] {
  const words: string[] = [];
  let word = '';
  const end = (whole: string, next = ''): void => {
    words.push(whole);
    word = next;
  };
  for (let at = 0; at < text.length; at += 1) {
    const [character = '', next] = [text[at], text[at + 1]];
    const upper = isUpper(character);
    if (word !== '' && ((upper && isLower(next)) || (isLower(character) && isUpper(next)))) {
      if (upper) end(word, character);
      else end(word + character);
    } else if (SEPARATORS.includes(character)) end(word);
    else word += character;
  }
  end(word);
  return words;
}

const isUpper = (character: string | undefined): boolean =>
  character !== undefined && character >= 'A' && character <= 'Z';
const isLower = (character: string | undefined): boolean =>
  character !== undefined && character >= 'a' && character <= 'z';
