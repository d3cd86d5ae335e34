/** What keys of one letter do on every page. */

/** Pages by the letter that follows `g`: the first five. */
export const GO_PAGES = {
  f: { name: 'Fleet', to: '/' },
  c: { name: 'Components', to: '/components' },
  s: { name: 'Sessions', to: '/sessions' },
  n: { name: 'Configurations', to: '/configurations' },
  b: { name: 'Batches', to: '/batches' },
} as const;
export type GoPath = (typeof GO_PAGES)[keyof typeof GO_PAGES]['to'];

export interface KeyMeaning {
  /** Page that it leads to. */
  to: GoPath | null;
  isHelp: boolean;
  /** Whether the key that comes next names a page. */
  isGo: boolean;
}

/** Returns what a key means. Any other one than a page's ends what `g` has begun. */
export function keyMeaning(key: string, isAfterGo: boolean): KeyMeaning {
  const page = isAfterGo && Object.hasOwn(GO_PAGES, key) ? GO_PAGES[key as keyof typeof GO_PAGES] : null;
  return { to: page?.to ?? null, isHelp: key === '?', isGo: key === 'g' };
}

/** Keys with what they do, as the help tells them. */
export const KEY_HELP: readonly (readonly [keys: string, what: string])[] = [
  ['/', 'to the filter of the page'],
  ['j, k', 'to the next row, to the row before'],
  ['x', 'selects the row'],
  ['Enter', 'opens the row'],
  ['Esc', 'closes a dialog'],
  ...Object.entries(GO_PAGES).map(([key, { name }]) => [`g ${key}`, `to the page ${name}`] as const),
  ['n, N', 'in a log: to the next match, to the match before'],
  ['f, F', 'in a log: to the next failure, to the failure before'],
  ['?', 'this help'],
];
