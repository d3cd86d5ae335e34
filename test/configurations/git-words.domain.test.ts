import { describe, expect, test } from '@jest/globals';
import { readGitFailure } from '../../domain/configurations/git-failure.ts';
import {
  commitOfHead,
  commitOfRef,
  isBranchOrTagName,
  looksLikeCommitId,
} from '../../domain/configurations/git-ref.ts';

describe('names of branches and tags', () => {
  test.each(['main', 'release/1.2', 'v1.0.0', 'feature_x', 'ä', 'a@b', 'deadbeef'])('%s may be one', (name) => {
    expect(isBranchOrTagName(name)).toBe(true);
  });
  test.each([
    '',
    '-x',
    '--upload-pack=x',
    'a b',
    'a..b',
    'a~1',
    'a^',
    'a:b',
    'a?',
    'a*',
    'a[b',
    'a\\b',
    'a@{1}',
    '/a',
    'a/',
    'a//b',
    '.a',
    'a/.b',
    'a.',
    'a.lock',
    'a.lock/b',
    'a\nb',
    'a\u007f',
  ])('%j cannot be one', (name) => {
    expect(isBranchOrTagName(name)).toBe(false);
  });
});

describe('what a remote names', () => {
  const id = (digit: string): string => digit.repeat(40);
  const lines = (...refs: [string, string][]): string => refs.map(([digit, ref]) => `${id(digit)}\t${ref}\n`).join('');
  test.each([
    ['a branch before a tag', lines(['1', 'refs/heads/x'], ['2', 'refs/tags/x'], ['3', 'refs/tags/x^{}']), id('1')],
    ['the commit of an annotated tag', lines(['2', 'refs/tags/x'], ['3', 'refs/tags/x^{}']), id('3')],
    ['a plain tag', lines(['2', 'refs/tags/x']), id('2')],
    ['nothing that only ends so', lines(['1', 'refs/heads/y/refs/heads/x']), null],
    ['nothing', '', null],
  ])('%s', (_title, text, commit) => {
    expect(commitOfRef(text, 'x')).toBe(commit);
  });
  test('HEAD is taken exactly', () => {
    expect(commitOfHead(lines(['1', 'refs/remotes/origin/HEAD'], ['2', 'HEAD']))).toBe(id('2'));
    expect(commitOfHead('')).toBeNull();
  });
});

test.each([
  ['abcdef1', true],
  ['ABCDEF1', true],
  ['abcdef', false],
  ['g123456', false],
  ['a'.repeat(41), false],
])('%s looks like a commit id: %s', (text, answer) => expect(looksLikeCommitId(text)).toBe(answer));

test.each([
  [
    "fatal: Authentication failed for 'https://h/a'\n",
    'repository_auth_failed',
    "fatal: Authentication failed for 'https://h/a'",
  ],
  [
    "fatal: could not read Username for 'https://h': terminal prompts disabled\n",
    'repository_auth_failed',
    'fatal: could not read Username',
  ],
  [
    "fatal: unable to access 'https://h/a/': The requested URL returned error: 403\n",
    'repository_auth_failed',
    'error: 403',
  ],
  [
    'git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n',
    'repository_auth_failed',
    'git@h: Permission denied (publickey).',
  ],
  [
    'Host key verification failed.\nfatal: Could not read from remote repository.\n',
    'repository_auth_failed',
    'Host key verification failed.',
  ],
  [
    "remote: Not Found\nfatal: repository 'https://h/a/' not found\n",
    'repository_not_found',
    "fatal: repository 'https://h/a/' not found",
  ],
  [
    "fatal: '/srv/a' does not appear to be a git repository\nfatal: Could not read from remote repository.\n",
    'repository_not_found',
    'does not appear',
  ],
  ['fatal: remote error: upload-pack: not our ref 1234\n', 'commit_not_found', 'not our ref'],
  ['error: Server does not allow request for unadvertised object 1234\n', 'commit_not_found', 'unadvertised'],
  ["fatal: transport 'ext' not allowed\n", 'repository_url_refused', 'not allowed'],
  ["error: invalid path '.git/x'\n", 'repository_unsafe', 'invalid path'],
  ["fatal: unable to access 'https://u:pw@h/a/': Could not resolve host: h\n", 'clone_failed', 'https://u:***@h/a/'],
  [
    'Receiving objects:  12% (1/8)\rReceiving objects:  25% (2/8)\rfetch-pack: unexpected disconnect\nfatal: early EOF\n',
    'clone_failed',
    'fatal: early EOF',
  ],
  ...[
    'server certificate verification failed. CAfile: /tmp/ca.pem CRLfile: none',
    'SSL certificate problem: unable to get local issuer certificate',
    'SSL certificate problem: self-signed certificate in certificate chain',
    'SSL certificate problem: certificate has expired',
    "SSL: no alternative certificate subject name matches target host name 'h'",
    "SSL: certificate subject name (x) does not match target host name 'h'",
    'error setting certificate verify locations:  CAfile: /tmp/ca.pem',
    'Problem with the SSL CA cert (path? access rights?)',
  ].map((words): [string, string, string] => [
    `fatal: unable to access 'https://h/a/': ${words}\n`,
    'repository_untrusted',
    words,
  ]),
  ["fatal: unable to access 'https://h/': gnutls_handshake() failed: timeout\n", 'clone_failed', 'gnutls_handshake'],
  ['', 'clone_failed', 'git gave no reason'],
])('of %j git failed with %s', (stderr, code, line) => {
  const failure = readGitFailure(stderr);
  expect(failure.code).toBe(code);
  expect(failure.line).toContain(line);
});
