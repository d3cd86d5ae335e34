import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { openStackToken } from '../../cli/token.ts';
import { isSameServer } from '../../deploy/stack/own-stack.ts';
import { identify } from '../../deploy/stack/process-identity.ts';

const OWN = 'http://127.0.0.1:8100';
let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-stack-token-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const tokenAt = (defaultUrl: string) =>
  openStackToken({}, dir, { tokenFor: async () => 'of the environment', defaultUrl })(OWN);

describe('the token for the own stack', () => {
  test("is its administrator's, whatever the environment names", async () => {
    const components = { api: { process: await identify(process.pid) } };
    await writeFile(join(dir, 'stack.json'), JSON.stringify({ links: { api: OWN }, components }));
    await writeFile(join(dir, 'admin-token'), 'own\n');
    expect([await tokenAt('https://muster.example.com'), await tokenAt(OWN)]).toEqual(['own', 'own']);
  });

  test('is none of another installation, where it has none itself', async () => {
    expect(await tokenAt('https://muster.example.com')).toBeUndefined();
    expect(await tokenAt('http://localhost:8100')).toBe('of the environment');
  });
});

test.each([
  [OWN, 'http://localhost:8100/', true],
  [OWN, 'http://[::1]:8100', true],
  ['http://[::]:8100', OWN, true],
  [OWN, 'http://127.0.0.1:8101', false],
  [OWN, 'https://localhost:8100', false],
  [OWN, 'http://muster.example.com:8100', false],
  ['http://muster.example.com', 'http://other.example.com', false],
  [OWN, 'nowhere', false],
])('%s and %s lead to one server: %s', (one, other, same) => {
  expect(isSameServer(one, other)).toBe(same);
});
