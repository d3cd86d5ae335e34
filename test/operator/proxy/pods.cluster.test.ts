/** Pods through the proxy, on a cluster that runs them: commands, files, logs, forwarded ports, and the end of the owner. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { OwnerText } from '../../../domain/operator/owner-text.ts';
import { runKubeconfig } from '../../../domain/operator/run-kubeconfig.ts';
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { imageName, kubeconfigPath, makeNamespace, type TestNamespace } from '../../support/kubernetes/dev-cluster.ts';
import { type Guest, openProxied, type Proxied } from './proxied.ts';

const BOOTSTRAP = join(import.meta.dirname, '..', '..', '..', 'bootstrap', 'run.mjs');
const SERVER =
  'import http.server; http.server.HTTPServer(("", 8000), http.server.SimpleHTTPRequestHandler).serve_forever()';

let namespace: TestNamespace;
let proxied: Proxied;
let guest: Guest;
let owner: OwnerText;
let dir: string;
let venv: string;
let env: NodeJS.ProcessEnv;

const programs = promisify(execFile);

function command(args: string[]): ChildProcess {
  return spawn(process.env.MUSTER_TEST_KUBECTL ?? '', ['--namespace', namespace.name, ...args], { env, cwd: dir });
}

/** kubectl as the run. */
async function kubectl(args: string[], input = ''): Promise<string> {
  const child = command(args);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  child.on('error', reject);
  child.on('close', (code) => (code === 0 ? resolve(output) : reject(new Error(`${args.join(' ')}: ${output}`))));
  return await promise;
}

beforeAll(async () => {
  namespace = await makeNamespace('m-o-proxy');
  const [{ stdout }] = await Promise.all([
    programs(process.execPath, [BOOTSTRAP, 'operator-ansible'], { encoding: 'utf8' }),
    namespace.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'owner' } }),
  ]);
  venv = stdout.trim();
  const made = await namespace.read<{ metadata: { uid: string } }>('configmaps/owner');
  owner = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    name: 'owner',
    uid: made?.metadata.uid ?? '',
    namespace: namespace.name,
  };
  proxied = await openProxied(openClusterAccess(kubeconfigPath()));
  guest = proxied.admit(owner);
  dir = await mkdtemp(join(tmpdir(), 'muster-operator-pods-'));
  const kubeconfig = join(dir, 'kubeconfig');
  const { port, ca } = proxied.proxy;
  await writeFile(kubeconfig, runKubeconfig({ port, ca, owner, password: guest.password }), { mode: 0o600 });
  env = {
    ...{ PATH: `${join(venv, 'bin')}:${process.env.PATH}`, HOME: dir, LANG: 'C.UTF-8' },
    ...{ KUBECONFIG: kubeconfig, K8S_AUTH_KUBECONFIG: kubeconfig, ANSIBLE_NOCOLOR: '1' },
  };
  const container = {
    name: 'main',
    image: imageName('aee'),
    imagePullPolicy: 'Never',
    command: ['python3', '-c', `print("hello from the pod", flush=True); ${SERVER}`],
    workingDir: '/tmp',
    resources: { requests: { cpu: '10m', memory: '32Mi' } },
  };
  const spec = { containers: [container], terminationGracePeriodSeconds: 0, restartPolicy: 'Never' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec };
  await kubectl(['apply', '--server-side', '-f', '-'], JSON.stringify(pod));
  await kubectl(['wait', 'pod/p', '--for=condition=Ready', '--timeout=120s']);
}, 900_000);

afterAll(async () => {
  await proxied?.close();
  if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  await namespace?.remove();
});

test('kubectl runs commands, with what comes on their input', async () => {
  expect(await kubectl(['exec', 'p', '--', 'echo', 'out'])).toBe('out\n');
  const many = 'line of input\n'.repeat(20_000);
  expect(await kubectl(['exec', '-i', 'p', '--', 'cat'], many)).toBe(many);
  await expect(kubectl(['exec', 'p', '--', 'sh', '-c', 'exit 7'])).rejects.toThrow('7');
  // The older protocol, which clients of before speak.
  env.KUBECTL_REMOTE_COMMAND_WEBSOCKETS = 'false';
  expect(await kubectl(['exec', '-i', 'p', '--', 'cat'], 'by SPDY')).toBe('by SPDY');
  delete env.KUBECTL_REMOTE_COMMAND_WEBSOCKETS;
  expect(proxied.told.writes).toContainEqual({
    ...{ verb: 'exec', group: '', version: 'v1', kind: 'Pod', namespace: namespace.name, name: 'p' },
    subresource: 'exec',
  });
});

test('kubectl copies files, reads and follows logs, forwards ports', async () => {
  const content = 'content\n'.repeat(50_000);
  await writeFile(join(dir, 'there'), content);
  await kubectl(['cp', 'there', 'p:/tmp/there']);
  await kubectl(['cp', 'p:/tmp/there', 'back']);
  expect(await readFile(join(dir, 'back'), 'utf8')).toBe(content);
  expect(await kubectl(['logs', 'p'])).toContain('hello from the pod');

  const port = await freePort();
  const forwarding = command(['port-forward', 'pod/p', `${port}:8000`]);
  const following = command(['logs', '-f', 'p']);
  let log = '';
  following.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    log += chunk;
  });
  following.stderr?.on('data', (chunk) => {
    log += String(chunk);
  });
  try {
    await eventually('the port answers', async () => {
      const answer = fetch(`http://127.0.0.1:${port}/there`).then((one) => one.text());
      return (await answer.catch(() => null)) === content;
    });
    await eventually('the log tells of it', async () => log.includes('GET /there'));
  } finally {
    for (const child of [forwarding, following]) child.kill();
  }
}, 240_000);

test('modules run commands, copy files, read logs', async () => {
  const pod = { namespace: namespace.name, pod: 'p' };
  const tasks = [
    { 'kubernetes.core.k8s_exec': { ...pod, command: 'echo by module' }, register: 'ran' },
    { 'ansible.builtin.debug': { msg: 'exec {{ ran.stdout | trim }}' } },
    { 'kubernetes.core.k8s_cp': { ...pod, remote_path: '/tmp/copied', content: 'copied text\n' } },
    { 'kubernetes.core.k8s_exec': { ...pod, command: 'cat /tmp/copied' }, register: 'read' },
    { 'ansible.builtin.debug': { msg: 'file {{ read.stdout | trim }}' } },
    { 'kubernetes.core.k8s_log': { namespace: namespace.name, name: 'p' }, register: 'log' },
    { 'ansible.builtin.debug': { msg: 'log {{ log.log_lines[0] }}' } },
  ];
  await writeFile(join(dir, 'play.json'), JSON.stringify([{ hosts: 'localhost', gather_facts: false, tasks }]));
  const host = 'localhost ansible_connection=local ansible_python_interpreter={{ansible_playbook_python}}\n';
  await writeFile(join(dir, 'hosts'), host);
  const { stdout } = await programs(join(venv, 'bin', 'ansible-playbook'), ['-i', 'hosts', 'play.json'], {
    ...{ env, cwd: dir, encoding: 'utf8' },
  }).catch((error: { stdout: string; stderr: string }) => ({ stdout: `${error.stdout}${error.stderr}` }));
  for (const words of ['exec by module', 'file copied text', 'log hello from the pod']) expect(stdout).toContain(words);
}, 240_000);

test('a run that ends loses its commands; what it made goes with its owner', async () => {
  const brief = proxied.admit(owner);
  const config = join(dir, 'brief');
  const { port, ca } = proxied.proxy;
  await writeFile(config, runKubeconfig({ port, ca, owner, password: brief.password }), { mode: 0o600 });
  const sleeping = command(['--kubeconfig', config, 'exec', 'p', '--', 'sh', '-c', 'echo on; sleep 600']);
  const { promise: ended, resolve } = Promise.withResolvers<number | null>();
  sleeping.on('close', resolve);
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  sleeping.stdout?.once('data', () => begin());
  await begun;
  proxied.proxy.end(brief.run.runId);
  expect(await ended).not.toBe(0);

  const made = await namespace.read<{ metadata: { ownerReferences: unknown[] } }>('pods/p');
  const { apiVersion, kind, name, uid } = owner;
  expect(made?.metadata.ownerReferences).toEqual([{ apiVersion, kind, name, uid }]);
  await namespace.kubectl(['delete', 'configmap', 'owner']);
  await eventually('the pod is gone', async () => (await namespace.read('pods/p')) === null, 180_000);
}, 360_000);
