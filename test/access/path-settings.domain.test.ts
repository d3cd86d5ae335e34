import { resolve } from 'node:path';
import { expect, test } from '@jest/globals';
import { PATH_SETTINGS, SETTINGS } from '../../config/environment.ts';
import { environmentOfProcesses } from '../../config/file-settings.ts';

/** Names of what is a path; a key that is no file is a word itself. */
const PATH_NAME = /_(FILE|DIR|CERT|KEY|CA|BINARY|COMMAND|KUBECONFIG|ANSIBLE_RUNNER)$/;
const NO_PATHS = ['MUSTER_TEMPORAL_API_KEY'];
/** Told to each process as a whole path by whoever starts it, or read by the command line alone. */
const NOT_HANDED_ON = ['MUSTER_DATA_DIR', 'MUSTER_TOKEN_FILE'];

test('every setting that is a path is handed on as a whole one', () => {
  const paths = SETTINGS.filter((name) => PATH_NAME.test(name) && !NO_PATHS.includes(name));
  expect([...PATH_SETTINGS, ...NOT_HANDED_ON].sort()).toEqual(paths.sort());
});

test.each([
  'MUSTER_ARA_CREDENTIALS_FILE',
  'MUSTER_IMS_TOKEN_FILE',
  'MUSTER_RUNNER_KUBECONFIG',
  'MUSTER_VAULT_JWT_FILE',
  'MUSTER_IMAGES_DIR',
])('%s is read from the folder in which it was given', (name) => {
  expect(environmentOfProcesses({ [name]: 'beside/it' })).toEqual({ [name]: resolve('beside/it') });
  expect(environmentOfProcesses({ [name]: '/etc/it' })).toEqual({ [name]: '/etc/it' });
  expect(environmentOfProcesses({ [name]: '' })).toEqual({ [name]: '' });
});

test('a program is a path only with a slash in it', () => {
  const given = (program: string) =>
    environmentOfProcesses({ MUSTER_PLAYBOOK_COMMAND: program }).MUSTER_PLAYBOOK_COMMAND;
  expect(given('true')).toBe('true');
  expect(given('./playbook')).toBe(resolve('playbook'));
});
