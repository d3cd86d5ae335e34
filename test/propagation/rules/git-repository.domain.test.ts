/** What may be asked of repositories that are read from git, and which name a definition has. */
import { describe, expect, test } from '@jest/globals';
import { musterError } from '../../../domain/errors.ts';
import {
  definitionNameOf,
  type GivenOrigin,
  gitOrigin,
  joinMistakes,
  mistakeOf,
} from '../../../domain/propagation/git-repository.ts';

const SCHEMES = ['https', 'ssh'];
const url = 'https://git.example.com/defs.git';

describe('the origin of a repository', () => {
  test.each<[GivenOrigin, object | null]>([
    [{}, null],
    [{ url }, { url, ref: null, path: '', source: null }],
    [
      { url, ref: 'feature/x', path: 'a/b', source: 's' },
      { url, ref: 'feature/x', path: 'a/b', source: 's' },
    ],
    [
      { url, path: 'a/b//' },
      { url, ref: null, path: 'a/b', source: null },
    ],
    [
      { url, path: '.' },
      { url, ref: null, path: '', source: null },
    ],
    [{ url: 'git@host:defs.git' }, { url: 'git@host:defs.git', ref: null, path: '', source: null }],
  ])('%j', (given, expected) => {
    expect(gitOrigin(given, SCHEMES)).toEqual(expected);
  });

  test.each<[GivenOrigin, string, string | undefined]>([
    [{ ref: 'main' }, 'validation_failed', 'url'],
    [{ source: 's' }, 'validation_failed', 'url'],
    [{ url: 'ext::sh -c id' }, 'repository_url_refused', undefined],
    [{ url: 'file:///srv/defs' }, 'repository_url_refused', undefined],
    [{ url: '/srv/defs' }, 'repository_url_refused', undefined],
    [{ url: '--upload-pack=x' }, 'repository_url_refused', undefined],
    [{ url: 'https://ada:secret@git.example.com/x' }, 'password_in_address', 'url'],
    [{ url, ref: '--all' }, 'validation_failed', 'ref'],
    [{ url, ref: 'a..b' }, 'validation_failed', 'ref'],
    [{ url, path: '../x' }, 'validation_failed', 'path'],
    [{ url, path: '/etc' }, 'validation_failed', 'path'],
    [{ url, path: '/' }, 'validation_failed', 'path'],
    [{ url, path: 'a//b' }, 'validation_failed', 'path'],
    [{ url, path: '.git/refs' }, 'validation_failed', 'path'],
    [{ url, path: 'a\\b' }, 'validation_failed', 'path'],
  ])('%j is refused', (given, code, field) => {
    const refused = () => gitOrigin(given, SCHEMES);
    expect(refused).toThrow(expect.objectContaining({ code, field }));
    expect(refused).not.toThrow(/secret@/);
  });
});

test.each([
  [['site', 'defs', 'web'], 'web'],
  [['site', 'web', '1.2.0'], 'web'],
  [['site', '1.2.0'], 'site'],
  [['site', ''], 'site'],
  [['1.2.0'], ''],
  [[], ''],
])('the definition in %j is %j', (segments, name) => {
  expect(definitionNameOf(segments)).toBe(name);
});

describe('mistakes of a commit', () => {
  const of = (folder: string, code: 'invalid_spec' | 'validation_failed', text: string) =>
    mistakeOf(folder, async () => {
      throw musterError(code, text);
    });

  test('are told together, the first with its code', async () => {
    const mistakes = [await of('', 'invalid_spec', 'one'), await of('b', 'validation_failed', 'two')];
    const joined = joinMistakes(mistakes.flatMap((mistake) => mistake ?? []));
    expect([joined?.code, joined?.detail]).toEqual(['invalid_spec', 'the whole folder: one; b: two']);
    expect(joinMistakes([])).toBeNull();
    expect(await mistakeOf('a', async () => undefined)).toBeNull();
  });

  test('are no others than refusals', async () => {
    const broken = mistakeOf('a', async () => {
      throw new Error('the disk');
    });
    await expect(broken).rejects.toThrow('the disk');
  });

  test('are cut where they are many', async () => {
    const mistakes = await Promise.all(Array.from({ length: 30 }, (_, index) => of(`d${index}`, 'invalid_spec', 'x')));
    expect(joinMistakes(mistakes.flatMap((mistake) => mistake ?? []))?.detail).toMatch(/d9: x and 20 more$/);
  });
});
