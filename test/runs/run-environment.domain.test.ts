import { describe, expect, test } from '@jest/globals';
import { type RunEnvironment, runEnvironment, setsCommonArguments } from '../../domain/runs/run-environment.ts';
import { baseEnvironment } from '../../worker/base-environment.ts';

const input: RunEnvironment = {
  base: { PATH: '/venv/bin:/bin', HOME: '/home/u', SESSION_NAME: 'of the base' },
  sessionName: 'web',
  layer: 3,
  cloneUrl: 'https://git/base.git',
  playbook: 'site.yml',
  commit: 'a'.repeat(40),
  targetDefinition: 'dynamic',
  recordsState: true,
  paths: {
    workspace: '/d/ws',
    ansibleConfig: '/d/ws/ansible.cfg',
    inventory: '/d/ws/hosts',
    roles: '/d/ws/layer3/roles',
    sshKey: '/d/ws/ssh/id',
    controlPath: '/d/cp',
    vaultPassword: null,
  },
};

describe('the environment of a playbook', () => {
  test('has what the runners of CFS export, over what the base says', () => {
    expect(runEnvironment(input)).toMatchObject({
      PATH: '/venv/bin:/bin',
      SESSION_NAME: 'web',
      SESSION_CLONE_URL: 'https://git/base.git',
      SESSION_PLAYBOOK: 'site.yml',
      LAYER_CURRENT: '3',
      INVENTORY_TYPE: 'dynamic',
      DISABLE_STATE_RECORDING: 'False',
      ANSIBLE_ROLES_PATH: '/d/ws/layer3/roles',
      ANSIBLE_CONFIG: '/d/ws/ansible.cfg',
      ANSIBLE_INVENTORY: '/d/ws/hosts',
    });
  });

  test('names the session to ARA, and a server only where there is one', () => {
    const silent = runEnvironment(input);
    expect(silent).toMatchObject({
      ARA_DEFAULT_LABELS: 'web',
      ARA_RECORD_CONTROLLER: 'false',
      ARA_RECORD_USER: 'false',
    });
    expect(Object.keys(silent).filter((name) => /ARA_API|MUSTER_ARA/.test(name))).toEqual([]);
    const ara = { server: 'https://ara.example.org', credentials: '/d/ara.json' };
    expect(runEnvironment({ ...input, ara })).toMatchObject({
      ARA_API_SERVER: 'https://ara.example.org',
      MUSTER_ARA_CREDENTIALS: '/d/ara.json',
    });
    expect(runEnvironment({ ...input, ara: { ...ara, credentials: undefined } })).not.toHaveProperty(
      'MUSTER_ARA_CREDENTIALS',
    );
  });

  test('keeps what Ansible writes inside the workspace', () => {
    const { ANSIBLE_HOME, ANSIBLE_LOCAL_TEMP } = runEnvironment(input);
    expect([ANSIBLE_HOME, ANSIBLE_LOCAL_TEMP]).toEqual(['/d/ws/ansible-home', '/d/ws/tmp']);
  });

  test('names a file for the password of vaults only when there is one', () => {
    expect(runEnvironment(input)).not.toHaveProperty('ANSIBLE_VAULT_PASSWORD_FILE');
    const paths = { ...input.paths, vaultPassword: '/d/ws/ssh/vault-password' };
    expect(runEnvironment({ ...input, paths }).ANSIBLE_VAULT_PASSWORD_FILE).toBe('/d/ws/ssh/vault-password');
  });

  test('offers another key to ssh only when there is one, whatever its folder is called', () => {
    expect(runEnvironment(input)).not.toHaveProperty('ANSIBLE_SSH_COMMON_ARGS');
    const offered = (plainKey: string) =>
      runEnvironment({ ...input, paths: { ...input.paths, plainKey } }).ANSIBLE_SSH_COMMON_ARGS;
    expect(offered('/d/ws/ssh/plain')).toBe(`-o 'IdentityFile="/d/ws/ssh/plain"'`);
    expect(offered("/a b/100%/it's/plain")).toBe(`-o 'IdentityFile="/a b/100%%/it'\\''s/plain"'`);
  });

  test.each([
    [true, '[ssh_connection]\nssh_common_args = -o ProxyJump=bastion\n'],
    [true, '[ssh_connection]\n  SSH_COMMON_ARGS: -4'],
    [false, '[ssh_connection]\n# ssh_common_args = -4\nssh_args = -4\n'],
    [false, '[ssh_connection]\nmy_ssh_common_args = -4\n'],
    [false, ''],
  ])('options for ssh of a site: %s for %j', (sets, text) => {
    expect(setsCommonArguments(text)).toBe(sets);
  });

  test('says when results do not count as state', () => {
    expect(runEnvironment({ ...input, recordsState: false }).DISABLE_STATE_RECORDING).toBe('True');
  });
});

describe('the base of it', () => {
  test('has nothing of our own settings and secrets', () => {
    const own = {
      MUSTER_DATABASE_URL: 'postgres://u:word@h/d',
      TEMPORAL_API_KEY: 'key',
      SSH_AUTH_SOCK: '/s',
      PGPASSWORD: 'p',
    };
    const base = baseEnvironment(
      { ...own, PATH: '/bin', HOME: '/home/u', HTTPS_PROXY: 'http://p', no_proxy: 'x', TZ: undefined },
      '/venv/bin',
    );
    expect(base).toEqual({
      LANG: 'C.UTF-8',
      LC_ALL: 'C.UTF-8',
      HOME: '/home/u',
      HTTPS_PROXY: 'http://p',
      no_proxy: 'x',
      PATH: '/venv/bin:/bin',
    });
  });

  test('finds programs without a PATH of ours', () => {
    expect(baseEnvironment({}, '/venv/bin').PATH).toBe('/venv/bin:/usr/local/bin:/usr/bin:/bin');
  });
});
