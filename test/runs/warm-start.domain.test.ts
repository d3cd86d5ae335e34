import { expect, test } from '@jest/globals';
import { startupOf } from '../../domain/runs/warm-start.ts';

const PATH = '/usr/local/bin:/usr/bin:/bin';

test.each<[string, Record<string, string>, Record<string, string>]>([
  ['nothing', {}, {}],
  [
    'what Python reads at its start',
    { PYTHONPATH: '/a', PYTHONHASHSEED: '0' },
    { PYTHONHASHSEED: '0', PYTHONPATH: '/a' },
  ],
  ['the language', { LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' }, { LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8' }],
  [
    'the home of the user',
    { HOME: '/root', USER: 'root', LOGNAME: 'root' },
    { HOME: '/root', LOGNAME: 'root', USER: 'root' },
  ],
  ['no search path of the run', { PATH: '/mine' }, {}],
  ['no setting of Ansible', { ANSIBLE_VAULT_PASSWORD_FILE: '/v', ANSIBLE_CONFIG: '/c' }, {}],
  ['nothing of one run', { SESSION_NAME: 's', MUSTER_ARA_CREDENTIALS: 'word', API_TOKEN: 'word' }, {}],
])('a process is started with %s', (_what, env, expected) => {
  expect(startupOf(env)).toEqual({ PATH, ...expected });
});

test('the order of the variables makes no other process', () => {
  const one = startupOf({ LANG: 'a', HOME: 'b' });
  expect(JSON.stringify(one)).toBe(JSON.stringify(startupOf({ HOME: 'b', LANG: 'a' })));
});
