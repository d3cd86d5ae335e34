import { expect, test } from '@jest/globals';
import { EnvironmentError, loadEnvironment } from '../../config/environment.ts';

test.each([
  {},
  { MUSTER_DEPLOY_UNKNOWN_FIELDS: 'refuse', MUSTER_DEPLOY_FORCE_CONFLICTS: 'true' },
  { MUSTER_DEPLOY_FORCE_CONFLICTS: '1' },
])('what is built is taken: %j', (given) => {
  expect(loadEnvironment(given)).toMatchObject({
    MUSTER_DEPLOY_UNKNOWN_FIELDS: 'refuse',
    MUSTER_DEPLOY_FORCE_CONFLICTS: true,
  });
});

test.each([
  ['MUSTER_DEPLOY_UNKNOWN_FIELDS', 'drop', 'drop is not built yet'],
  ['MUSTER_DEPLOY_FORCE_CONFLICTS', 'false', 'false is not built yet'],
  ['MUSTER_DEPLOY_FORCE_CONFLICTS', '0', 'false is not built yet'],
  ['MUSTER_DEPLOY_UNKNOWN_FIELDS', 'ignore', 'Invalid option'],
  ['MUSTER_DEPLOY_FORCE_CONFLICTS', 'perhaps', 'Invalid option'],
])('%s=%s refuses the start, and says why', (name, value, why) => {
  expect(() => loadEnvironment({ [name]: value })).toThrow(EnvironmentError);
  expect(() => loadEnvironment({ [name]: value })).toThrow(`${name}: ${why}`);
});
