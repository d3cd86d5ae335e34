/** Variables, command, directory and environment of a run. */
import { describe, expect, test } from '@jest/globals';
import type { CustomResource } from '../../../domain/operator/custom-resource.ts';
import { removedAtEnd, runDirectory } from '../../../domain/operator/run-directory.ts';
import { artifactsOf, ignoredAnnotations, periodOf, verbosityOf } from '../../../domain/operator/run-settings.ts';
import { runVariables } from '../../../domain/operator/run-variables.ts';
import { runnerArguments } from '../../../domain/operator/runner-command.ts';
import { runnerEnvironment } from '../../../domain/operator/runner-environment.ts';
import { load } from '../watches/entries.ts';

const SDK = 'ansible.sdk.operatorframework.io';
const entryOf = (members = '') => {
  const text = `- {group: cache.example.com, version: v1, kind: Memcached, playbook: pb.yml, ${members}}`;
  const [entry] = load(text, { markUnsafe: false }).entries;
  if (entry === undefined) throw new Error(`no entry in ${text}`);
  return entry;
};
const resource = (over: Partial<CustomResource> = {}): CustomResource => ({
  apiVersion: 'cache.example.com/v1',
  kind: 'Memcached',
  metadata: { name: 'm1', namespace: 'ns1', uid: 'u1', labels: { a: '{{ x }}' } },
  spec: { maxSize: '{{ 1+1 }}', size: 3 },
  ...over,
});

describe('extra variables', () => {
  test('hold spec, meta, the whole resource and the variables of the entry', () => {
    const entry = entryOf(
      "vars: {size: 5, meta: '{{ ansible_operator_meta }}'}, finalizer: {name: f/x, vars: {state: absent}}",
    );
    const { variables, collisions } = runVariables(resource(), entry, false);
    expect(variables).toEqual({
      max_size: '{{ 1+1 }}',
      size: 5,
      meta: '{{ ansible_operator_meta }}',
      ansible_operator_meta: { name: 'm1', namespace: 'ns1' },
      _cache_example_com_memcached: resource(),
      _cache_example_com_memcached_spec: { maxSize: '{{ 1+1 }}', size: 3 },
    });
    expect(collisions).toEqual([]);
    expect(runVariables(resource(), entry, true).variables.state).toBe('absent');
  });

  test('markUnsafe wraps what comes from the resource, and nothing else', () => {
    const { variables } = runVariables(resource(), entryOf("markUnsafe: true, vars: {own: '{{ x }}'}"), false);
    const unsafe = (text: string) => ({ __ansible_unsafe: text });
    expect(variables).toMatchObject({
      max_size: unsafe('{{ 1+1 }}'),
      own: '{{ x }}',
      ansible_operator_meta: { name: 'm1', namespace: 'ns1' },
      _cache_example_com_memcached: { kind: unsafe('Memcached'), metadata: { labels: { a: unsafe('{{ x }}') } } },
      _cache_example_com_memcached_spec: { maxSize: unsafe('{{ 1+1 }}') },
    });
  });

  test('a spec cannot take the place of meta or of the resource', () => {
    const spec = { ansible_operator_meta: 1, _cache_example_com_memcached: 2, ansibleOperatorMeta: 3 };
    const { variables } = runVariables(resource({ spec }), entryOf(), false);
    expect(variables.ansible_operator_meta).toEqual({ name: 'm1', namespace: 'ns1' });
    expect(variables._cache_example_com_memcached).toEqual(resource({ spec }));
  });

  test.each([undefined, null, 'text', [1]])('a spec that is %j is an empty one', (spec) => {
    const { variables } = runVariables(resource({ spec }), entryOf(), false);
    expect(variables).toEqual({
      ansible_operator_meta: { name: 'm1', namespace: 'ns1' },
      _cache_example_com_memcached: resource({ spec: {} }),
      _cache_example_com_memcached_spec: {},
    });
  });

  test('keys stay where the entry says so; a cluster-scoped resource has an empty namespace', () => {
    const metadata = { name: 'm1', uid: 'u1' };
    const { variables } = runVariables(resource({ metadata }), entryOf('snakeCaseParameters: false'), false);
    expect(variables).toMatchObject({ maxSize: '{{ 1+1 }}', ansible_operator_meta: { name: 'm1', namespace: '' } });
  });

  test('a spec of 1 MiB and names of 253 characters pass', () => {
    const long = 'n'.repeat(253);
    const spec = Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`someKey${index}x`, 'y'.repeat(40)]));
    expect(JSON.stringify(spec).length).toBeGreaterThan(2 ** 20);
    const { variables } = runVariables(
      resource({ spec, metadata: { name: long, namespace: 'ns1', uid: 'u1' } }),
      entryOf('markUnsafe: true'),
      false,
    );
    expect(Object.keys(variables)).toHaveLength(20_003);
    expect(variables.ansible_operator_meta).toEqual({ name: long, namespace: 'ns1' });
  });
});

describe('the command', () => {
  const command = { directory: '/d', ident: '77', gathering: undefined };
  const playbook = { playbook: '/opt/p.yml', role: null };
  const role = { playbook: null, role: '/opt/ansible/roles/db' };
  const roleArguments = '--role db --roles-path /opt/ansible/roles/ --hosts localhost';

  test.each([
    [
      'C1',
      { script: playbook, verbosity: 2, maxArtifacts: 20 },
      'run /d --rotate-artifacts 20 -p /opt/p.yml -i 77 -vv',
    ],
    [
      'C2',
      { script: role, verbosity: 3, maxArtifacts: 20, gathering: 'explicit' },
      `run /d --rotate-artifacts 20 ${roleArguments} -i 77 -vvv --role-skip-facts`,
    ],
    [
      'C3',
      {
        script: role,
        verbosity: verbosityOf({ [`${SDK}/verbosity`]: '0' }, entryOf()),
        maxArtifacts: artifactsOf({ [`${SDK}/max-runner-artifacts`]: '0' }, entryOf()),
      },
      `run /d --rotate-artifacts 0 ${roleArguments} -i 77`,
    ],
    [
      'a playbook gathers facts by itself',
      { script: playbook, verbosity: -1, maxArtifacts: 1, gathering: 'explicit' },
      'run /d --rotate-artifacts 1 -p /opt/p.yml -i 77',
    ],
  ])('%s', (_, over, expected) => {
    expect(runnerArguments({ ...command, ...over }).join(' ')).toBe(expected);
  });
});

describe('annotations of a resource', () => {
  test.each([
    ['2147483647', 20],
    ['99999999999999999999', 2],
    ['-3', -3],
    ['+4', 4],
    ['much', 2],
    ['', 2],
    ['1.5', 2],
  ])('verbosity %j counts as %d', (text, expected) => {
    expect(verbosityOf({ [`${SDK}/verbosity`]: text }, entryOf())).toBe(expected);
  });

  test.each([
    ['5', 5],
    ['0', 0],
    ['-1', 20],
    ['many', 20],
  ])('%j artifacts count as %d', (text, expected) => {
    expect(artifactsOf({ [`${SDK}/max-runner-artifacts`]: text }, entryOf())).toBe(expected);
  });

  test('those without an effect are named', () => {
    const annotations = { [`${SDK}/verbosity`]: 'x', [`${SDK}/max-runner-artifacts`]: '3' };
    expect(ignoredAnnotations(annotations)).toEqual([`${SDK}/verbosity`]);
    expect(ignoredAnnotations({})).toEqual([]);
  });

  test.each([
    [undefined, '', 36_000],
    [undefined, 'reconcilePeriod: 30s', 30],
    [undefined, 'reconcilePeriod: -5s', null],
    ['90s', '', 90],
    ['0s', '', null],
    ['0', 'reconcilePeriod: 30s', null],
    ['-1h', '', null],
    ['1ns', '', 1],
    ['999ms', '', 1],
    ['1001ms', '', 1.001],
  ])('period %j with entry {%s} is %j s', (text, members, seconds) => {
    const annotations: Record<string, string> = text === undefined ? {} : { [`${SDK}/reconcile-period`]: text };
    expect(periodOf(annotations, entryOf(members), 36_000)).toEqual({ seconds });
  });

  test('a period that is none', () => {
    expect(periodOf({ [`${SDK}/reconcile-period`]: '3x' }, entryOf(), 36_000)).toEqual({
      mistake: 'Unable to parse reconcile period annotation: time: unknown unit "x" in duration "3x"',
    });
  });
});

describe('the directory of a run', () => {
  const input = {
    home: '/srv/op',
    env: {},
    kubeconfig: '/k',
    variables: { a: 1 },
    script: { playbook: '/opt/p.yml', role: null },
    ansibleArgs: '',
  };
  const INVENTORY = 'localhost ansible_connection=local ansible_python_interpreter=';

  test('of a playbook', () => {
    expect(runDirectory(input)).toEqual({
      files: [
        { path: 'env/envvars', text: '{"K8S_AUTH_KUBECONFIG":"/k","KUBECONFIG":"/k"}' },
        { path: 'env/extravars', text: '{"a":1}' },
        { path: 'env/settings', text: '{}' },
        { path: 'inventory/hosts', text: `${INVENTORY}{{ansible_playbook_python}}\n` },
      ],
      copies: [{ from: '/opt/p.yml', to: 'project/playbook.yaml', whole: false }],
    });
  });

  test('of a role, with an inventory and a virtual environment', () => {
    const role = { playbook: null, role: '/r/db' };
    expect(runDirectory({ ...input, script: role, env: { ANSIBLE_INVENTORY: 'inv' } }).copies).toEqual([
      { from: '/srv/op/inv', to: 'inventory', whole: true },
    ]);
    const { files } = runDirectory({ ...input, script: role, env: { ANSIBLE_INVENTORY: '', VIRTUAL_ENV: '/venv' } });
    expect(files.at(-1)?.text).toBe(`${INVENTORY}/venv/bin/python3\n`);
  });

  test.each([
    ["'--forks 3'", '--forks 3'],
    ['--forks 3', '--forks 3'],
    ["'a", "'a"],
    ["'", "'"],
    ["''a''", "'a'"],
  ])('arguments %s stand in env/cmdline as %s', (ansibleArgs, text) => {
    expect(runDirectory({ ...input, ansibleArgs }).files).toContainEqual({ path: 'env/cmdline', text });
  });

  test.each(['', "''"])('no arguments: %j', (ansibleArgs) => {
    expect(runDirectory({ ...input, ansibleArgs }).files.map(({ path }) => path)).not.toContain('env/cmdline');
  });

  test('what holds secrets goes at the end', () => {
    expect(removedAtEnd('77')).toEqual(['env', 'inventory', 'artifacts/77/fact_cache', 'artifacts/77/command']);
  });
});

describe('the environment of a run', () => {
  const env = {
    PATH: '/bin',
    TOKEN: 'secret',
    MUSTER_DATABASE_URL: 'postgres://x',
    PGPASSWORD: 'x',
    TEMPORAL_ADDRESS: 'x',
    ENABLE_TURBO_MODE: 'true',
    KUBECONFIG: '/own',
    SITE_SECRET: 'x',
    NONE: undefined,
  };
  const input = {
    env,
    kubeconfig: '/k',
    only: undefined,
    secretSettings: new Set(['SITE_SECRET']),
    ansibleConfig: undefined,
  };

  test('has nothing of Muster, and the kubeconfig of the run', () => {
    expect(runnerEnvironment(input)).toEqual({
      plain: { PATH: '/bin', ANSIBLE_ALLOW_BROKEN_CONDITIONALS: 'true', KUBECONFIG: '/k', K8S_AUTH_KUBECONFIG: '/k' },
      secret: { TOKEN: 'secret' },
    });
  });

  test('is narrowed, and leaves what the operator says of conditionals and roles', () => {
    const { plain, secret } = runnerEnvironment({
      ...input,
      env: { ...env, ANSIBLE_ALLOW_BROKEN_CONDITIONALS: 'false', OTHER: 'x' },
      only: ['PATH', 'ANSIBLE_ALLOW_BROKEN_CONDITIONALS'],
      ansibleConfig: '/made.cfg',
    });
    expect(plain).toEqual({ PATH: '/bin', ANSIBLE_CONFIG: '/made.cfg', KUBECONFIG: '/k', K8S_AUTH_KUBECONFIG: '/k' });
    expect(secret).toEqual({ ANSIBLE_ALLOW_BROKEN_CONDITIONALS: 'false' });
  });
});
