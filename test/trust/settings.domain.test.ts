import { expect, test } from '@jest/globals';
import { loadEnvironment } from '../../config/environment.ts';

test('without settings certificates are for root and last 12 hours, and no Vault is asked', () => {
  expect(loadEnvironment({})).toMatchObject({
    MUSTER_TRUST_PRINCIPALS: ['root'],
    MUSTER_TRUST_TTL: 43_200,
    MUSTER_VAULT_ROLE: 'ssh-user-certs-compute',
    MUSTER_VAULT_JWT_FILE: '/var/run/secrets/kubernetes.io/serviceaccount/token',
  });
  expect(loadEnvironment({}).MUSTER_VAULT_URL).toBeUndefined();
});

test('users are named with commas between', () => {
  const { MUSTER_TRUST_PRINCIPALS } = loadEnvironment({ MUSTER_TRUST_PRINCIPALS: 'root, admin' });
  expect(MUSTER_TRUST_PRINCIPALS).toEqual(['root', 'admin']);
});

test.each([
  ['MUSTER_TRUST_PRINCIPALS', ' , '],
  ['MUSTER_TRUST_PRINCIPALS', 'two words'],
  ['MUSTER_TRUST_TTL', '0'],
  ['MUSTER_TRUST_TTL', 'P1D'],
  ['MUSTER_VAULT_URL', 'vault:8200'],
  ['MUSTER_BOOT_METADATA_URL', 'ftp://bss'],
])('%s=%j is a mistake', (name, value) => {
  expect(() => loadEnvironment({ [name]: value })).toThrow(name);
});
