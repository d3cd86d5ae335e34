import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const SCRIPT = join(dirname(dirname(dirname(import.meta.dirname))), 'deploy', 'dev-cluster', 'cluster.sh');

let dir: string;
let kubeconfig: string;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'muster-named-cluster-'));
  kubeconfig = join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, 'apiVersion: v1\nkind: Config\n');
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** A kubectl whose cluster answers, or does not. */
function kubectl(status: number): void {
  const path = join(dir, 'kubectl');
  writeFileSync(path, `#!/bin/sh\nexit ${status}\n`);
  chmodSync(path, 0o755);
}

function cluster(args: string[], more: Record<string, string> = {}) {
  const env = { PATH: `${dir}:${process.env.PATH}`, HOME: dir, MUSTER_TEST_KUBECONFIG: kubeconfig, ...more };
  const { status, stdout, stderr } = spawnSync('bash', [SCRIPT, ...args], { env, encoding: 'utf8' });
  return { status, out: stdout, err: stderr };
}

test('a cluster that the user names is asked whether it answers, and taken', () => {
  kubectl(0);
  expect(cluster(['up'])).toEqual({ status: 0, out: `${kubeconfig}\n`, err: '' });
  expect(cluster(['check'])).toEqual({ status: 0, out: '', err: '' });
  const { status, out } = cluster(['status'], { MUSTER_TEST_CLUSTER_HOST: '192.0.2.7' });
  expect(status).toBe(0);
  expect(out.split('\n')).toEqual(
    expect.arrayContaining(['provider=existing', 'up=yes', `kubeconfig=${kubeconfig}`, 'host=192.0.2.7']),
  );
});

test('one that does not answer is said so', () => {
  kubectl(1);
  expect(cluster(['provider'])).toEqual({ status: 0, out: 'existing\n', err: '' });
  expect(cluster(['up'])).toMatchObject({ status: 1, out: '', err: expect.stringContaining('does not answer') });
  expect(cluster(['status'])).toMatchObject({ status: 3, out: expect.stringContaining('up=no') });
});

test('a kubeconfig that is not there is named', () => {
  kubectl(0);
  const missing = { MUSTER_TEST_KUBECONFIG: '/nowhere/kubeconfig' };
  expect(cluster(['up'], missing)).toMatchObject({ status: 1, err: expect.stringContaining('/nowhere/kubeconfig') });
  expect(cluster(['check'], missing)).toMatchObject({ status: 3, out: 'a kubeconfig at /nowhere/kubeconfig\n' });
});

test('KUBECONFIG counts too, behind the name for tests', () => {
  kubectl(0);
  expect(cluster(['up'], { MUSTER_TEST_KUBECONFIG: '', KUBECONFIG: kubeconfig }).out).toBe(`${kubeconfig}\n`);
  expect(cluster(['up'], { KUBECONFIG: '/nowhere' }).out).toBe(`${kubeconfig}\n`);
});

test('it is not stopped, and nothing in it is killed or loaded', () => {
  kubectl(0);
  expect(cluster(['down'])).toMatchObject({ status: 0, err: expect.stringContaining('is not stopped') });
  expect(cluster(['kill', 'etcd']).status).toBe(1);
  expect(cluster(['image', '/image.tar'])).toMatchObject({ status: 1, err: expect.stringContaining('yourself') });
});

test.each([[[]], [['stop']], [['kill']], [['up', 'now']], [['image']]])('%j is refused with the usage', (args) => {
  expect(cluster(args)).toMatchObject({ status: 2, out: '', err: expect.stringContaining('cluster.sh up') });
});
