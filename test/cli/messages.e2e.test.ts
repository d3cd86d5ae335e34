/** Messages that name the thing, say what is wrong and the next command. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { refusal } from '../../domain/access/roles.ts';
import { cli } from '../support/command-line.ts';
import { type FakeApi, startFakeApi } from '../support/fake-api.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

test.each([
  ['batch_size', './muster option set batch_size=50'],
  ['=5', './muster option set batch_size=50'],
])('an option without a value: %s', async (word, command) => {
  const { exit, err } = await cli(['option', 'set', word], { url: api.url });
  expect(exit).toBe(2);
  expect(err).toContain(`write it as name=value, such as \`${command}\``);
  expect(api.seen).toEqual([]);
});

test('https:// of an API that speaks plain HTTP', async () => {
  const { exit, err } = await cli(['session', 'list'], { url: api.url.replace('http:', 'https:') });
  expect(exit).toBe(7);
  expect(err).toContain('answers plain HTTP');
  expect(err).toContain(`write http://: \`--url ${api.url}\``);
  expect(err).not.toContain('start the stack');
});

test('a role that is too weak', () => {
  const caller = { role: 'reader' as const, component: null, actor: 'token/eyes' };
  expect(refusal({ least: 'operator' }, caller, undefined)).toBe(
    'Your token has role reader, this needs operator: `./muster token create --role operator` as admin',
  );
});
