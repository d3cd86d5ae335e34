import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const SCRIPT = join(dirname(dirname(dirname(import.meta.dirname))), 'deploy', 'dev-cluster', 'cluster.sh');

/** A kind whose cluster is a few files. Like the real one it locks a kubeconfig by a file beside it, which must not be there. */
const KIND = `
config() {
  (set -o noclobber && : >"$config.lock") 2>/dev/null || { echo "ERROR: open $config.lock: file exists" >&2; exit 1; }
  echo "apiVersion: v1" >"$config"
  rm "$config.lock"
}
action="$1 $2"
while (($# > 0)); do case $1 in --kubeconfig) config=$2 ;; image-archive) archive=$2 ;; esac; shift; done
case $action in
  "get clusters") [[ ! -e node ]] || echo muster-dev; seq -f other-%g 2000 ;;
  "create cluster")
    [[ ! -e node ]] || { echo "ERROR: node(s) already exist" >&2; exit 1; }
    : >node
    if [[ -e die ]]; then : >"$config.lock"; rm die; kill -9 "$PPID" $$; fi
    sleep 0.3; config; : >running ;;
  "export kubeconfig") config ;;
  "delete cluster") config; rm -f node running images ;;
  "load image-archive") cat "$archive" >>images ;;
esac`;

const DOCKER = `
case $1 in
  version) echo 1 ;;
  network) printf 'fc00:f853:ccd:e793::1\\n172.18.0.1\\n' ;;
  container) [[ -e node ]] && { [[ -e running ]] && echo true || echo false; } ;;
  start) : >running ;;
  exec)
    [[ -e running ]] || exit 1
    case $3 in
      ps) printf '%s\\n' systemd etcd kube-apiserver kube-controller kube-scheduler containerd kubelet kube-proxy coredns ;;
      kubectl) echo True ;;
      ctr) grep -xF "\${*: -1:1}" <(sed s/^/name==/ images 2>/dev/null) || true ;;
    esac ;;
esac`;

let dir: string;
let kubeconfig: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-kind-cluster-'));
  kubeconfig = join(dir, 'cache', 'dev-cluster-kind.kubeconfig');
  program('kind', KIND);
  program('docker', DOCKER);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function program(name: string, script: string): void {
  const path = join(dir, name);
  writeFileSync(path, `#!/usr/bin/env bash\nset -e\ncd '${dir}'\necho "${name} $*" >>calls\n${script}\n`);
  chmodSync(path, 0o755);
}

/** Runs the script with the kubeconfig that `up` prints, so that it never is about another cluster on this machine. */
function cluster(args: string[], more: Record<string, string> = {}) {
  const env = {
    PATH: `${dir}:${process.env.PATH}`,
    HOME: dir,
    MUSTER_CACHE_DIR: join(dir, 'cache'),
    KUBECONFIG: kubeconfig,
    ...more,
  };
  return new Promise<{ status: number | null; out: string; err: string }>((resolve, reject) => {
    const child = spawn('bash', [SCRIPT, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const said = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said.err += text;
    });
    child.on('error', reject);
    child.on('close', (status) => resolve({ status, ...said }));
  });
}

const calls = (beginning: string) =>
  readFileSync(join(dir, 'calls'), 'utf8')
    .split('\n')
    .filter((call) => call.startsWith(beginning));

async function statusOf(key: string): Promise<string | undefined> {
  const { out } = await cluster(['status']);
  const line = out.split('\n').find((one) => one.startsWith(`${key}=`));
  return line?.slice(key.length + 1);
}

test('a cluster is made once, also by two commands at the same time, and says how it is reached', async () => {
  expect(await cluster(['provider'])).toEqual({ status: 0, out: 'kind\n', err: '' });
  expect(await cluster(['status'])).toMatchObject({ status: 3, out: expect.stringContaining('up=no') });
  const both = await Promise.all([cluster(['up']), cluster(['up'])]);
  for (const { status, out } of both) expect({ status, out }).toEqual({ status: 0, out: `${kubeconfig}\n` });
  expect(calls('kind create')).toHaveLength(1);
  const { status, out } = await cluster(['status']);
  expect(status).toBe(0);
  expect(out.split('\n')).toEqual(
    expect.arrayContaining(['provider=kind', 'up=yes', `kubeconfig=${kubeconfig}`, 'host=172.18.0.1', 'for=']),
  );
});

test('one that was stopped is started again; it is for whom it was started for', async () => {
  await cluster(['up'], { MUSTER_DEV_CLUSTER_FOR: 'tests' });
  expect(await statusOf('for')).toBe('tests');
  await cluster(['up']);
  expect(await statusOf('for')).toBe('');
  rmSync(join(dir, 'running'));
  expect(await statusOf('up')).toBe('no');
  await cluster(['up'], { MUSTER_DEV_CLUSTER_FOR: 'tests' });
  expect(await statusOf('up')).toBe('yes');
  expect(await statusOf('for')).toBe('tests');
  expect(calls('kind create')).toHaveLength(1);
});

test('one whose making was broken off is made anew', async () => {
  writeFileSync(join(dir, 'die'), '');
  expect((await cluster(['up'])).status).not.toBe(0);
  expect(existsSync(`${kubeconfig}.lock`)).toBe(true);
  expect((await cluster(['up'])).status).toBe(0);
  expect(calls('kind delete')).toHaveLength(1);
  expect(await statusOf('up')).toBe('yes');
});

test('an image is loaded once, and again into the next cluster while its archive is there', async () => {
  const archive = join(dir, 'image.tar');
  writeFileSync(archive, 'localhost/image:1\n');
  expect((await cluster(['image', archive, 'localhost/image:1'])).status).toBe(1);
  await cluster(['up']);
  for (const file of [archive, archive, '/nowhere.tar'])
    expect((await cluster(['image', file, 'localhost/image:1'])).status).toBe(0);
  expect((await cluster(['image', '/nowhere.tar', 'localhost/other:1'])).status).toBe(1);
  expect(calls('kind load')).toHaveLength(1);

  for (const _ of ['down', 'down again']) expect((await cluster(['down'])).status).toBe(0);
  expect(existsSync(kubeconfig)).toBe(false);
  await cluster(['up']);
  expect((await cluster(['image', '/nowhere.tar', 'localhost/image:1'])).status).toBe(0);

  rmSync(archive);
  await cluster(['down']);
  expect((await cluster(['up'])).status).toBe(0);
  expect((await cluster(['image', '/nowhere.tar', 'localhost/image:1'])).status).toBe(1);
});

test('without an engine that answers it says what is missing, and forgets nothing', async () => {
  await cluster(['up']);
  program('docker', 'exit 1');
  expect(await cluster(['check'])).toMatchObject({ status: 3, out: 'a Docker engine that answers\n' });
  for (const command of ['up', 'down']) {
    expect(await cluster([command])).toMatchObject({ status: 1, err: expect.stringContaining('a Docker engine') });
  }
  expect(await statusOf('up')).toBe('no');
  expect(existsSync(kubeconfig)).toBe(true);
});
