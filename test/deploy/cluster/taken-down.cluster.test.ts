import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { clusterCommand, clusterStatus } from '../../support/kubernetes/cluster-command.ts';
import {
  imageName,
  kubectl,
  makeNamespace,
  startParts,
  takingDownRefused,
} from '../../support/kubernetes/dev-cluster.ts';
import { SINGLE_API_SERVER } from '../../support/kubernetes/kubernetes-api.ts';
import { describeNeeding } from '../../support/requirement.ts';

const run = promisify(execFile);
const BRIDGE = 'musterdev0';
/** Address of the Service of the API server in the machine's own cluster. */
const SERVICE = '10.96.0.1';
const FOLDERS = ['/var/lib/muster-dev-cluster/', '/run/muster-dev-cluster/', '/run/netns/cni-'];

async function answers(host: string, port: number): Promise<boolean> {
  const socket = connect({ host, port, timeout: 2_000 });
  socket.on('timeout', () => socket.destroy(new Error('no answer')));
  const connected = await once(socket, 'connect').then(
    () => true,
    () => false,
  );
  socket.destroy();
  return connected;
}

/** Paths of the programs of the development cluster that run on this machine. API servers of single tests are the same programs, and other suites may have some meanwhile. */
async function runningPrograms(): Promise<string[]> {
  const processes = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const programs = await Promise.all(
    processes.map(async (id) => {
      const program = await readlink(`/proc/${id}/exe`).catch(() => '');
      const words = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '');
      // Without words it has ended since.
      return words === '' || words.includes(SINGLE_API_SERVER) ? '' : program;
    }),
  );
  return programs.filter((path) => path.includes('/dev-cluster-'));
}

async function mounts(): Promise<string[]> {
  const lines = (await readFile('/proc/mounts', 'utf8')).split('\n');
  return lines
    .map((line) => line.split(' ')[1] ?? '')
    .filter((path) => FOLDERS.some((folder) => path.startsWith(folder)));
}

async function links(): Promise<string> {
  return (await run('ip', ['-o', 'link'])).stdout;
}

async function rules(): Promise<string> {
  return (await run('/usr/sbin/iptables-save')).stdout;
}

describeNeeding(takingDownRefused(), 'a cluster that is taken down', () => {
  afterAll(() => startParts(), 360_000);

  test('leaves no process, mount, interface or rule, and keeps its images', async () => {
    const { provider } = await clusterStatus();
    const namespace = await makeNamespace('muster-taken-down');
    const container = { name: 'main', image: imageName('util'), imagePullPolicy: 'Never', command: ['sleep', '3600'] };
    const deployment = {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'stays' },
      spec: {
        replicas: 2,
        selector: { matchLabels: { app: 'stays' } },
        template: { metadata: { labels: { app: 'stays' } }, spec: { containers: [container] } },
      },
    };
    await namespace.apply(deployment);
    await namespace.kubectl(['rollout', 'status', 'deployment/stays', '--timeout=180s']);
    if (provider === 'own') {
      const programs = (await runningPrograms()).filter((path) => path.endsWith('/kubelet'));
      expect(programs).toHaveLength(1);
      expect(await mounts()).not.toEqual([]);
      expect(await links()).toContain(BRIDGE);
      expect(await rules()).toContain('KUBE-');
    }

    await namespace.close();
    await clusterCommand('down');
    expect((await clusterStatus()).up).toBe(false);
    if (provider === 'own') {
      const names = [
        'etcd',
        'kube-apiserver',
        'kubelet',
        'kube-proxy',
        'coredns',
        'containerd',
        'containerd-shim-runc-v2',
      ];
      const left = await runningPrograms();
      expect(left.filter((path) => names.some((name) => path.endsWith(`/${name}`)))).toEqual([]);
      expect(await mounts()).toEqual([]);
      expect(await links()).not.toContain(BRIDGE);
      expect(await rules()).not.toContain('KUBE-');
    }
    await clusterCommand('down');

    await startParts();
    // At once again: nothing that has just begun is disturbed.
    await startParts();
    // What the cluster held is gone, so tests that come twice find nothing of the first time.
    expect(await kubectl(['get', 'namespace', namespace.name, '--ignore-not-found'])).toBe('');
    if (provider === 'own') await clusterCommand('image', '/nowhere.tar', imageName('util'));
    await eventually('every part runs', async () => (await clusterStatus()).up);
    if (provider === 'own') await eventually('the API server answers by its Service', () => answers(SERVICE, 443));
  }, 480_000);
});
