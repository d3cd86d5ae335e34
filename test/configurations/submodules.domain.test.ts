import { describe, expect, test } from '@jest/globals';
import { isLfsPointer, readLfsFailure } from '../../domain/configurations/lfs.ts';
import { readGitmodules, submoduleUrl } from '../../domain/configurations/submodules.ts';

describe('the address of a submodule', () => {
  test.each([
    ['https://git.test/team/plays.git', '../roles.git', 'https://git.test/team/roles.git'],
    ['https://git.test/team/plays.git/', '../../other/roles.git', 'https://git.test/other/roles.git'],
    ['https://git.test/team/plays.git', './inner', 'https://git.test/team/plays.git/inner'],
    ['https://git.test:8443/plays', '../roles/', 'https://git.test:8443/roles'],
    ['git@git.test:team/plays.git', '../roles.git', 'git@git.test:team/roles.git'],
    ['git@git.test:plays.git', '../roles.git', 'git@git.test:roles.git'],
    ['ssh://git@git.test/a/b', './../c', 'ssh://git@git.test/a/c'],
    ['file:///srv/git/plays', '../roles', 'file:///srv/git/roles'],
    ['https://git.test/a', 'https://other.test/b.git', 'https://other.test/b.git'],
    ['https://git.test/a', 'ext::sh -c x', 'ext::sh -c x'],
    ['https://git.test/a', '/srv/b', '/srv/b'],
  ])('of %s, %s is %s', (parent, url, expected) => {
    expect(submoduleUrl(parent, url)).toBe(expected);
  });

  test.each([
    ['https://git.test/a', '../../b'],
    ['https://git.test/a', '../../../../b'],
    ['git@git.test:a', '../../b'],
  ])('of %s, %s leads above it', (parent, url) => {
    expect(() => submoduleUrl(parent, url)).toThrow(expect.objectContaining({ code: 'repository_url_refused' }));
  });
});

test('of .gitmodules only paths and addresses are read', () => {
  const entries = [
    ['submodule.a.b.path', 'roles/a/'],
    ['submodule.a.b.url', '../a.git'],
    ['submodule.evil.path', 'roles/evil'],
    ['submodule.evil.update', '!touch /tmp/x'],
    ['submodule.two lines.url', 'https://git.test/b\nx'],
    ['submodule.two lines.path', 'roles/two\nlines'],
    ['core.sshcommand', 'touch /tmp/x'],
  ];
  const output = entries.map(([key, value]) => `${key}\n${value}\0`).join('');
  expect([...readGitmodules(output)]).toEqual([
    ['roles/a', '../a.git'],
    ['roles/two\nlines', 'https://git.test/b\nx'],
  ]);
});

describe('git-lfs', () => {
  const oid = 'a'.repeat(64);
  test.each([
    [`version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 12\n`, true],
    [`version https://git-lfs.github.com/spec/v1\next-0-x sha256:${oid}\noid sha256:${oid}\nsize 12\n`, true],
    [`version https://hawser.github.com/spec/v1\noid sha256:${oid}\nsize 12\n`, true],
    [`version https://other.test/spec/v1\noid sha256:${oid}\nsize 12\n`, false],
    ['version https://git-lfs.github.com/spec/v1\n', false],
    [` version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 12\n`, false],
    ['', false],
  ])('knows a pointer: %j', (text, expected) => expect(isLfsPointer(text)).toBe(expected));

  test.each([
    ['[4d7a] Object does not exist on the server: [404] Object does not exist', 'lfs_object_missing'],
    ['batch response: Authentication required: Authorization error: http://x/objects/batch', 'repository_auth_failed'],
    ['batch response: Post "https://x": x509: certificate signed by unknown authority', 'repository_untrusted'],
    ['batch response: Post "https://x": dial tcp 127.0.0.1:1: connect: connection refused', 'clone_failed'],
    ['', 'clone_failed'],
  ])('tells why it failed: %s', (text, code) => {
    const stderr = `fetch: Fetching reference HEAD\n${text}\nerror: failed to fetch some objects from 'https://x'\n`;
    const failure = readLfsFailure(text === '' ? '' : stderr);
    expect(failure).toEqual({ code, line: text === '' ? 'git-lfs gave no reason' : text });
  });
});
