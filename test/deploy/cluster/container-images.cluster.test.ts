import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { openProxy } from '../../support/fakes/tcp-proxy.ts';
import { startRestrictedPod } from '../../support/kubernetes/cluster-pod.ts';
import { hostAddress, imageName, makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { createTestDatabase } from '../../support/postgres/test-database.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const WORK = { environment: { HOME: '/muster/work/home', TMPDIR: '/muster/work' }, writable: ['/muster/work', '/tmp'] };
const DATA = { environment: { HOME: '/var/lib/muster' }, writable: ['/var/lib/muster', '/tmp'] };
/** On a machine that is busy with other suites a pod takes its time. */
const START_LIMIT_MS = 240_000;
const TEST_LIMIT_MS = 360_000;

let namespace: TestNamespace;
beforeAll(async () => {
  namespace = await makeNamespace('m-images');
});
afterAll(() => namespace.remove(), 240_000);

function run(short: string, command: string[], more: { environment?: Record<string, string>; writable?: string[] }) {
  return startRestrictedPod(namespace, { image: imageName(short), command, ...more }).then((pod) => pod.end());
}

/** What git and ssh need of a machine: an entry for the user, and folders where they may write. */
const CHECKS = [
  'set -e',
  'id -un',
  'mkdir -p "$HOME" && cd "$HOME"',
  'git init -q r && git -C r -c user.name=m -c user.email=m@example.org commit -q --allow-empty -m first',
  'git -C r log --format=%s',
  'ssh -G -T -p 2200 example.org | grep "^user "',
  'if touch /opt/probe 2>/dev/null; then echo writable; fi',
].join('\n');

describe('each image in a restricted pod', () => {
  test.each([
    ['aee', WORK],
    ['util', WORK],
    ['muster', DATA],
  ])('%s: git and ssh work for the user of the image, and its own files cannot be changed', async (short, more) => {
    expect(await run(short, ['sh', '-c', CHECKS], more)).toEqual({ code: 0, output: 'muster\nfirst\nuser muster\n' });
  });

  test.each([
    ['aee', 'python', WORK],
    ['util', 'python3', WORK],
  ])('%s: the program of a session’s pod is there and says what it lacks', async (short, python, more) => {
    const { code, output } = await run(short, [python, '-m', 'muster_pod', 'clone'], more);
    expect(code).not.toBe(0);
    expect(output).toContain('MUSTER_');
    expect(output).not.toContain('Traceback');
  });
});

describe('the Ansible execution environment', () => {
  test('Ansible is the version of the requirements, with the collections of the list', async () => {
    const listed = readFileSync(join(ROOT, 'deploy', 'images', 'aee', 'collections.txt'), 'utf8');
    const names = listed.split('\n').filter((line) => /^\w+\.\w+$/.test(line));
    const core = /^ansible-core==(.*)$/m.exec(readFileSync(join(ROOT, 'ansible', 'requirements.txt'), 'utf8'))?.[1];
    const command = 'ansible-playbook --version | head -1 && ansible-galaxy collection list';
    const { code, output } = await run('aee', ['sh', '-c', command], WORK);
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining(`[core ${core}]`) });
    // `ansible._protomatter` is a part of ansible-core.
    const found = [...output.matchAll(/^(\w+\.[a-z]\w+) +[0-9.]+ *$/gm)].map((match) => match[1]);
    expect(found.sort()).toEqual(names.sort());
  });

  test('a playbook runs, with what a collection computes and a strategy of ours', async () => {
    const playbook = JSON.stringify([
      {
        hosts: 'localhost',
        connection: 'local',
        gather_facts: false,
        strategy: 'cfs_linear',
        tasks: [
          { 'ansible.builtin.command': 'id -un', register: 'who' },
          {
            'ansible.builtin.debug': {
              msg: "{{ who.stdout }} {{ '10.88.0.7/16' | ansible.utils.ipaddr('network') }} {{ {'a': 1} | community.general.json_query('a') }}",
            },
          },
        ],
      },
    ]);
    const script = 'mkdir -p "$HOME" && cd "$HOME" && echo "$PLAYBOOK" > site.yml && exec ansible-playbook site.yml';
    const environment = {
      ...WORK.environment,
      PLAYBOOK: playbook,
      ANSIBLE_STRATEGY_PLUGINS: '/opt/muster/ansible/plugins/strategy',
    };
    const { code, output } = await run('aee', ['sh', '-c', script], { ...WORK, environment });
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('muster 10.88.0.0 1') });
  });
});

describe('Muster', () => {
  test('its command line says its version and asks for nothing to be installed', async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
    expect(await run('muster', ['muster', '--version'], DATA)).toEqual({ code: 0, output: `${version}\n` });
  });

  test(
    'its API answers from a pod, over a database outside of the cluster',
    async () => {
      const database = await createTestDatabase();
      const { host, pathname, username, password } = new URL(database.url);
      const way = await openProxy(host, hostAddress());
      try {
        const pod = await startRestrictedPod(namespace, {
          image: imageName('muster'),
          command: ['node', 'api/main.ts'],
          workingDir: '/opt/muster',
          writable: DATA.writable,
          environment: {
            MUSTER_API_HOST: '0.0.0.0',
            MUSTER_TRUST_GATEWAY: '1',
            MUSTER_DATABASE_URL: `postgres://${username}:${password}@${way.address}${pathname}`,
            MUSTER_TEMPORAL_ADDRESS: `${hostAddress()}:1`,
          },
        });
        const address = await eventually('the pod has an address', async () => (await pod.address()) || null);
        const ask = (path: string) => fetch(`http://${address}:8100${path}`).catch(() => null);
        await eventually('its database is in shape', async () => (await ask('/readyz'))?.ok, START_LIMIT_MS).catch(
          async (error) => {
            throw new Error(`${error.message}; its log: ${(await pod.log()).slice(-2_000)}`);
          },
        );
        const options = await ask('/v3/options');
        expect(options?.status).toBe(200);
        expect(await options?.json()).toHaveProperty('include_ara_links');
      } finally {
        await way.cut();
        await database.close();
      }
    },
    TEST_LIMIT_MS,
  );
});
