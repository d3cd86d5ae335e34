import { describe, expect, test } from '@jest/globals';
import { hasSecret, maskAddress, maskAddresses } from '../../domain/configurations/address-secrets.ts';

describe('a secret in an address', () => {
  test.each([
    ['https://user:CANARY@git.test/x.git', 'https://user:***@git.test/x.git'],
    ['HTTP://user:CANARY@git.test/x.git', 'HTTP://user:***@git.test/x.git'],
    ['https://:CANARY@git.test/x.git', 'https://:***@git.test/x.git'],
    ['https://user%3ACANARY@git.test/x.git', 'https://user:***@git.test/x.git'],
    ['https://user:CAN@ARY@git.test/x.git', 'https://user:***@git.test/x.git'],
    ['https://user:CAN/ARY@git.test/x.git', 'https://user:***@git.test/x.git'],
    ['ssh://git:CANARY@git.test/x.git', 'ssh://git:***@git.test/x.git'],
    ['git://u:CANARY@[::1]:9418/x', 'git://u:***@[::1]:9418/x'],
    ['user:CANARY@git.test/x.git', 'user:***@git.test/x.git'],
    ['https://ghp_CANARY@git.test/x.git', 'https://***@git.test/x.git'],
    ['https://github_pat_11CANARY@git.test/x.git', 'https://***@git.test/x.git'],
    [`https://CANARY${'a1'.repeat(20)}@git.test/x.git`, 'https://***@git.test/x.git'],
    ['https://git.test/x.git?private_token=CANARY', 'https://git.test/x.git?private_token=***'],
    ['https://git.test/x.git?a=b&Access-Key=CANARY#c', 'https://git.test/x.git?a=b&Access-Key=***#c'],
    ['https://git.test/x.git#token=CANARY', 'https://git.test/x.git#token=***'],
  ])('is not shown: %s', (text, shown) => {
    expect(maskAddress(text)).toBe(shown);
    expect([hasSecret(text), hasSecret(shown)]).toEqual([true, true]);
  });

  test.each([
    'https://git.test/x.git',
    'https://git.test:8443/x.git',
    'https://bot@git.test/x.git',
    'https://bot:@git.test/x.git',
    'https://bob-at-123456789012@git.test/x.git',
    'https://git.test:8443/x@y.git',
    'https://[::1]:8443/x.git',
    'https://git.test/x.git?service=git-upload-pack',
    'ssh://git@git.test:2222/x.git',
    'git@git.test:team/x.git',
    'host:plays/v1@2',
    'file:///srv/a:b@c',
    '/srv/plays',
    '',
  ])('is none: %s', (text) => {
    expect([maskAddress(text), hasSecret(text)]).toEqual([text, false]);
  });
});

test('JSON shows none in the members that hold addresses, and stays as it is elsewhere', () => {
  const url = 'https://u:CANARY@git.test/"quoted\\x.git';
  const record = {
    clone_url: url,
    layers: [{ cloneUrl: url, branch: 'a"b' }],
    additional_inventory_url: url,
    snapshot: { url },
    description: 'clone_url":"https://u:kept@x',
  };
  const shown = maskAddresses(JSON.stringify(record));
  expect(shown).not.toContain('CANARY');
  expect(JSON.parse(shown)).toMatchObject({ clone_url: maskAddress(url), description: record.description });
  const plain = JSON.stringify({ clone_url: 'https://git.test/a', url: 'git@git.test:a' });
  expect(maskAddresses(plain)).toBe(plain);
});
