import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseRepositoryUrl, REPOSITORY_SCHEMES } from '../../domain/configurations/repository-url.ts';
import { entryOf, hostsToName, isSameServer, verdictOf } from '../../domain/configurations/vcs-hosts.ts';
import { readVcsHosts } from '../../domain/secrets/vcs-hosts.ts';

const url = (text: string) => parseRepositoryUrl(text, REPOSITORY_SCHEMES);

describe('the common credentials', () => {
  test.each([
    ['https://git.test/a.git', ['git.test']],
    ['https://git.test/a.git', ['git.test:443']],
    ['https://git.test:443/a.git', ['git.test']],
    ['https://git.test:8443/a.git', ['git.test:8443']],
    ['https://GIT.Test/a.git', ['git.test']],
    ['https://git.test./a.git', ['git.test']],
    ['https://git.test/a.git', ['GIT.test.']],
    ['https://user@git.test/a.git', ['other.test', 'git.test']],
    ['https://[2001:db8::1]:8443/a.git', ['[2001:DB8::1]:8443']],
    ['http://127.0.0.1:3000/a.git', ['127.0.0.1:3000']],
    ['http://127.8.9.10/a.git', ['127.8.9.10']],
    ['http://localhost:3000/a.git', ['localhost:3000']],
    ['http://LOCALHOST.:3000/a.git', ['localhost:3000']],
    ['http://[::1]:3000/a.git', ['[::1]:3000']],
  ])('go to %s when %j are named', (text, hosts) => {
    expect(verdictOf(url(text), hosts)).toBe('send');
  });

  test.each([
    ['https://git.test/a.git', []],
    ['https://git.test:8443/a.git', ['git.test']],
    ['https://git.test:8443/a.git', ['git.test:443']],
    ['https://git.test/a.git', ['git.test:8443']],
    ['https://git.test.evil.test/a.git', ['git.test']],
    ['https://agit.test/a.git', ['git.test']],
    ['https://sub.git.test/a.git', ['git.test', '*.git.test', '.git.test']],
    ['https://git.test@evil.test/a.git', ['git.test']],
    ['http://127.0.0.1:3000/a.git', ['127.0.0.1']],
    ['http://127.0.0.1:3000/a.git', ['localhost:3000']],
    ['https://git.test/a.git', ['https://git.test', 'git.test/a', '']],
  ])('do not go to %s when %j are named', (text, hosts) => {
    expect(verdictOf(url(text), hosts)).toBe('host_not_named');
  });

  test.each([
    'http://git.test/a.git',
    'http://127.0.0.1.evil.test/a.git',
    'http://127.0.0.256/a.git',
    'http://localhost.evil.test/a.git',
    'http://[::ffff:10.0.0.1]/a.git',
    'http://0.0.0.0/a.git',
  ])('never go to %s', (text) => {
    const { host } = url(text);
    expect(verdictOf(url(text), [host ?? '', 'git.test'])).toBe('not_encrypted');
  });

  test('go to the host that its own entry names, whatever the address', () => {
    const host = fc.domain();
    const port = fc.option(fc.integer({ min: 1, max: 65_535 }));
    fc.assert(
      fc.property(host, port, (name, number) => {
        const address = url(`https://${name}${number === null ? '' : `:${number}`}/a.git`);
        expect(verdictOf(address, [entryOf(address)])).toBe('send');
        expect(verdictOf(address, [`x${entryOf(address)}`])).toBe('host_not_named');
      }),
    );
  });
});

test('the list of hosts takes commas, blanks and lines, and names what is no host', () => {
  expect(readVcsHosts(' git.test,other.test:8443,,\n[::1]:3000\n')).toEqual({
    hosts: ['git.test', 'other.test:8443', '[::1]:3000'],
    mistakes: [],
  });
  const mistakes = [
    'https://git.test',
    '*.git.test',
    'git.test:0',
    'git.test:65536',
    'git.test/a',
    'a b',
    'u@git.test',
  ];
  expect(readVcsHosts(mistakes.join(','))).toEqual({ hosts: [], mistakes });
});

test('one server is the same scheme, host and port', () => {
  expect(isSameServer('https://git.test/a', 'https://u:p@GIT.test.:443/b')).toBe(true);
  for (const other of ['http://git.test/a', 'https://git.test:8443/a', 'ssh://git.test/a', 'https://git', '/a', '']) {
    expect(isSameServer('https://git.test/a', other)).toBe(false);
  }
});

test('hosts to name are those of addresses that had the credentials and have them no more', () => {
  const addresses = [
    'https://git.test/a.git',
    'https://git.test:443/b.git',
    'https://b.test:8443/a.git',
    'https://named.test/a.git',
    'http://plain.test/a.git',
    'http://127.0.0.1:3000/a.git',
    'git@ssh.test:a.git',
    'file:///srv/a',
    'no address',
  ];
  expect(hostsToName(addresses, ['named.test'])).toEqual(['127.0.0.1:3000', 'b.test:8443', 'git.test']);
});
