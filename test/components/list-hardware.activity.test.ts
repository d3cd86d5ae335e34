import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createHardwareList } from '../../drivers/inventory/list-hardware.ts';
import { type HardwareManager, node, startHardwareManager } from '../support/fakes/hardware-service.ts';

let manager: HardwareManager;
beforeEach(async () => {
  manager = await startHardwareManager();
});
afterEach(() => manager.close());

const signal = new AbortController().signal;
const listed = (more: object = {}) => createHardwareList({ baseUrl: manager.url, backoffFactor: 0, ...more })(signal);

test('lists ids and types, whatever else an entry has', async () => {
  manager.entries = [node('x1'), { ID: 'b1', Type: 'NodeBMC', Flag: 'OK' }, null, 'text', { Type: 'Node' }];
  expect(await listed()).toEqual([
    { ID: 'x1', Type: 'Node' },
    { ID: 'b1', Type: 'NodeBMC' },
    { ID: undefined, Type: undefined },
    { ID: undefined, Type: undefined },
    { ID: undefined, Type: 'Node' },
  ]);
  expect(manager.asked).toEqual(['/hsm/v2/State/Components/']);
});

test.each([
  [503, 'status 503', 3],
  ['cut', 'socket hang up', 3],
  [404, 'status 404', 1],
  [401, 'status 401', 1],
  ['rubbish', 'is not valid JSON', 1],
] as const)('%s is told with the address, after %s and %i tries', async (failure, why, tries) => {
  manager.failure = failure;
  await expect(listed()).rejects.toThrow(
    new RegExp(`^The hardware state manager did not answer ${manager.url}/State/Components/: .*${why}`),
  );
  expect(manager.asked).toHaveLength(tries);
});

test('an answer of another shape is no empty list', async () => {
  manager.entries = 'none' as unknown as unknown[];
  await expect(listed()).rejects.toThrow('the answer is not the expected list');
});

test('a password in the address is not told', async () => {
  manager.failure = 404;
  const baseUrl = manager.url.replace('http://', 'http://user:secret@');
  const told = await listed({ baseUrl }).catch((error: Error) => error.message);
  expect(told).toContain(manager.url);
  expect(told).not.toContain('secret');
});
