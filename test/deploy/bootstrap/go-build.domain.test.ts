import { expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript without types
import { goEnvironment } from '../../../bootstrap/go-build.mjs';

const GIB = 2 ** 30;
const of = (memory: number, cpus: number) => goEnvironment({ PATH: '/bin' }, { memory, cpus });

test('each compiler has a share of the memory that is free before it clears up', () => {
  expect(of(16 * GIB, 2)).toEqual({ PATH: '/bin', CGO_ENABLED: '0', GOGC: 'off', GOMEMLIMIT: '2048MiB' });
  expect(of(512 * GIB, 32).GOMEMLIMIT).toBe('4096MiB');
});

test('a machine with little memory leaves it to Go', () => {
  expect(of(15 * GIB, 2)).toEqual({ PATH: '/bin', CGO_ENABLED: '0' });
});

test('what the user has set counts', () => {
  for (const own of [{ GOGC: '50' }, { GOMEMLIMIT: '1GiB' }]) {
    expect(goEnvironment(own, { memory: 64 * GIB, cpus: 2 })).toEqual({ ...own, CGO_ENABLED: '0' });
  }
});
