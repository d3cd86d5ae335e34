import { expect, test } from '@jest/globals';
import { isForAnsible } from '../../cli/input/limit-hosts.ts';

test.each([
  ['n1', true],
  ['n1,n2', true],
  ['web', true],
  ['all', true],
  ['all,!n3', true],
  ['n[1-2], all', true],
  ['!n1', true],
  ['web:&stage', true],
  ['n[0:3]', true],
  ['n*', true],
  ['~web\\d', true],
  ['n[1-4]', false],
  ['n1,!n2', false],
  ['@role=compute', false],
  ['n\\[1\\]', false],
  ['small,n[1-2]', false],
])('the limit %s is for Ansible as it is: %s', (limit, expected) => {
  expect(isForAnsible(limit)).toBe(expected);
});
