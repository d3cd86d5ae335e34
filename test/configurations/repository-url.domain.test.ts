import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseRepositoryUrl, REPOSITORY_SCHEMES } from '../../domain/configurations/repository-url.ts';
import { isMusterError, MusterError } from '../../domain/errors.ts';
import { maskUrlCredentials } from '../../domain/text/mask-url.ts';

const all = [...REPOSITORY_SCHEMES];

describe('addresses that are taken', () => {
  test.each([
    ['https://git.example.com/a.git', 'https', 'https://git.example.com/a.git', null, null],
    ['HTTPS://git.example.com/a.git', 'https', 'https://git.example.com/a.git', null, null],
    ['https://ada:s%40cret@git.example.com:8443/a.git', 'https', 'https://git.example.com:8443/a.git', 'ada', 's@cret'],
    ['https://token@git.example.com/a.git', 'https', 'https://git.example.com/a.git', 'token', null],
    ['http://[::1]:3000/a.git', 'http', 'http://[::1]:3000/a.git', null, null],
    ['ssh://git@git.example.com:2222/a.git', 'ssh', 'ssh://git@git.example.com:2222/a.git', 'git', null],
    ['ssh://ada@b.test@git.example.com/a.git', 'ssh', 'ssh://ada@b.test@git.example.com/a.git', 'ada@b.test', null],
    ['ssh://a@-@git.example.com/a.git', 'ssh', 'ssh://a@-@git.example.com/a.git', 'a@-', null],
    ['a@-@git.example.com:a.git', 'ssh', 'a@-@git.example.com:a.git', 'a@-', null],
    ['git@git.example.com:team/a.git', 'ssh', 'git@git.example.com:team/a.git', 'git', null],
    ['git.example.com:team/a.git', 'ssh', 'git.example.com:team/a.git', null, null],
    ['git@[fe80::1]:a.git', 'ssh', 'git@[fe80::1]:a.git', 'git', null],
    ['git://git.example.com/a.git', 'git', 'git://git.example.com/a.git', null, null],
    ['file:///srv/a.git', 'file', 'file:///srv/a.git', null, null],
    ['/srv/100%/a.git', 'file', 'file:///srv/100%25/a.git', null, null],
  ])('%s', (text, scheme, url, username, password) => {
    expect(parseRepositoryUrl(text, all)).toMatchObject({ scheme, url, username, password });
  });
});

describe('addresses that are refused', () => {
  test.each([
    ['', 'empty'],
    ['-oProxyCommand=x', 'hyphen'],
    ['--upload-pack=touch x', 'blanks'],
    ['--upload-pack=touch', 'hyphen'],
    ['ext::sh -c touch% x', 'blanks'],
    ['ext::sh', 'transport helpers'],
    ['fd::17/foo', 'transport helpers'],
    ['ssh::git@host/x', 'transport helpers'],
    ['https://host/a\nb', 'blanks or control'],
    ['https://host/a%0ab', 'blanks or control'],
    ['https://host/a\u0000', 'blanks or control'],
    ['ftp://host/a', 'scheme ftp'],
    ['ext://host/a', 'scheme ext'],
    ['ssh://-oProxyCommand=x/a', 'host'],
    ['ssh://git@-oProxyCommand=x/a', 'host'],
    ['ssh://a@b@-oProxyCommand=x/a', 'host'],
    ['ssh://-l@host/a', 'user'],
    ['ssh://git:word@host/a', 'password'],
    ['ssh://host', 'path'],
    ['ssh://host?@other/a', 'path'],
    ['ssh://host#@other/a', 'path'],
    ['git://host?@other/a', 'path'],
    ['https://host?@other/a', 'path'],
    ['http://host#@other/a.git', 'path'],
    ['-oProxyCommand=x:a', 'hyphen'],
    ['git@-x:a', 'host'],
    ['a@b@-x:a', 'host'],
    ['-l@host:a', 'hyphen'],
    ['git@host:-x', 'path'],
    ['git@host:', 'neither'],
    ['file://host/a', 'absolute'],
    ['file://a', 'absolute'],
    ['./a', 'neither'],
    ['../a', 'neither'],
    ['a', 'neither'],
    ['~/a', 'neither'],
    ['https://host:99999/a', 'host'],
    ['https://ho$t/a', 'host'],
    ['https://user%0a:x@host/a', 'control'],
    ['https://u%ZZ@host/a', 'user part'],
    ['git://ada@host/a', 'no user'],
  ])('%j: %s', (text, why) => {
    const error = refusal(text);
    expect(error.code).toBe('repository_url_refused');
    expect(error.detail).toContain(why);
  });

  test.each(['file:///srv/a', '/srv/a', 'git://host/a', 'git@host:a'])('%s where its scheme is not allowed', (text) => {
    expect(refusal(text, ['https']).detail).toContain('is not allowed here');
  });

  test('a password does not show in the refusal, even where the address is malformed', () => {
    for (const text of ['ftp://ada:hunter22@host/a', 'https://ada:hun/ter22@host/a', 'https://ada:hunter22@ho$t/a']) {
      expect(refusal(text).detail).not.toMatch(/hunter22|hun\/ter22|ter22/);
    }
  });
});

test('whatever is taken can be read by git neither as an option nor as a helper, and keeps no password', () => {
  const piece = fc.constantFrom(
    '-',
    '--',
    'ext::',
    '::',
    'https://',
    'ssh://',
    'file://',
    '@',
    ':',
    '/',
    'host',
    'a',
    '%0a',
    ' ',
    '\n',
    'pw',
    '[',
    ']',
    '.',
  );
  const texts = fc.oneof(
    fc.string(),
    fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
  );
  fc.assert(
    fc.property(texts, (text) => {
      let url: string;
      try {
        url = parseRepositoryUrl(text, all).url;
      } catch (error) {
        expect(isMusterError(error)).toBe(true);
        return;
      }
      // A host, which is what follows the last @, that begins with a hyphen would be an option of ssh; a path is quoted for the other side.
      expect(url).not.toMatch(
        /^-|^[A-Za-z0-9+.-]+::|[\s\p{Cc}]|^[a-z]+:\/\/(?:[^/]*@)?-(?![^/]*@)|^[^/:]*@-(?![^/:]*@)/u,
      );
      expect(url).toMatch(/^(?:(?:https?|ssh|git|file):\/\/|[^/:]+:|[^/]*\[)/);
      expect(url).not.toMatch(/^[a-z]+:\/\/[^/]*:[^/@]*@/);
    }),
    { numRuns: 3000, examples: [['a@-@host:a'], ['ssh://a@-@host/a']] },
  );
});

test.each([
  [
    "fatal: Authentication failed for 'https://ada:pw@host/a'",
    "fatal: Authentication failed for 'https://ada:***@host/a'",
  ],
  ['https://token@host/a', 'https://***@host/a'],
  ['ssh://git@host/a', 'ssh://git@host/a'],
  ['mail ada@example.com', 'mail ada@example.com'],
])('credentials of addresses in %j are masked', (text, masked) => {
  expect(maskUrlCredentials(text)).toBe(masked);
});

function refusal(text: string, allowed: readonly string[] = all): MusterError {
  try {
    parseRepositoryUrl(text, allowed);
  } catch (error) {
    if (error instanceof MusterError) return error;
    throw error;
  }
  throw new Error(`${text} was taken`);
}
