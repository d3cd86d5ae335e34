import { describe, expect, test } from '@jest/globals';
import { secretChange, secretNumber } from '../../../domain/sessions/cluster/secret-change.ts';

const now = { certificate: 'first', certificate_until: '1000\n', 'masks.json': '["a","b"]' };

describe('what is written into the Secret of a Job that goes on', () => {
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['nothing where it has all of it', { certificate: 'first', certificate_until: '1000\n' }, {}],
    ['nothing where its number is larger only', { certificate: 'first', certificate_until: '900\n' }, {}],
    [
      'a renewed certificate with its end',
      { certificate: 'second', certificate_until: '2000\n' },
      { certificate: 'second', certificate_until: '2000\n' },
    ],
    [
      'one that ends no later, with the next number',
      { certificate: 'second', certificate_until: '1000\n' },
      { certificate: 'second', certificate_until: '1001\n' },
    ],
    [
      'something else with the next number',
      { vault_password: 'w' },
      { vault_password: 'w', certificate_until: '1001\n' },
    ],
  ])('%s', (_what, wanted, changes) => {
    expect(secretChange(now, wanted, ['b'])).toEqual(changes);
  });

  test('what is to be masked besides', () => {
    expect(secretChange(now, { certificate: 'first' }, ['b', 'c'])).toEqual({
      'masks.json': '["a","b","c"]',
      certificate_until: '1001\n',
    });
  });

  test.each([
    [{}, 0],
    [{ certificate_until: '\n' }, 0],
    [{ certificate_until: '1000\n' }, 1000],
  ])('%j has the number %s', (values, number) => {
    expect(secretNumber(values)).toBe(number);
    expect(secretChange(values, { vault_password: 'w' }, [])).toMatchObject({ certificate_until: `${number + 1}\n` });
  });
});
