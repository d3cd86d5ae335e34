import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { Checkout } from './checkout.ts';

/** A Go that makes each program an empty file, after a moment so that two of them would meet. */
const GO = `case "$1" in
  env) echo "\${FAKE_GOCACHE:-/tmp}"; echo /tmp; exit 0 ;;
  build) [ -z "$FAKE_GO_FAILS" ] || { echo "cannot find module" >&2; exit 1; }; sleep 0.3; shift 5; : > "$1" ;;
  install) path=\${5%@*}; : > "$GOBIN/\${path##*/}" ;;
esac`;

let checkout: Checkout;

beforeEach(async () => {
  checkout = await Checkout.create();
  for (const file of ['go.mod', 'go.sum', 'dns/main.go'])
    await checkout.write(`deploy/dev-cluster/programs/${file}`, '1\n');
  await checkout.program('go', GO);
  await checkout.program('sleep', 'exec /bin/sleep "$@"');
  await checkout.program('du', 'echo "20000000 $2"');
});
afterEach(() => checkout.remove());

const builds = (calls: string[]) => calls.filter((call) => /^go (build|install)/.test(call));

test('programs of the cluster are built once, also by two starts at the same time', async () => {
  const [one, two] = await Promise.all([
    checkout.run('cluster-programs', 'etcd', 'kube-apiserver'),
    checkout.run('cluster-programs', 'kube-apiserver', 'helm'),
  ]);
  expect([one.status, two.status]).toEqual([0, 0]);
  expect(one.out).toBe(two.out);
  const folder = one.out.trim();
  expect(folder.startsWith(join(checkout.cache, 'dev-cluster-'))).toBe(true);
  expect((await readdir(folder)).sort()).toEqual(['etcd', 'helm', 'kube-apiserver']);
  expect(builds(await checkout.called())).toHaveLength(3);

  expect((await checkout.run('cluster-programs', 'helm', 'etcd')).status).toBe(0);
  expect(await checkout.called()).toEqual([]);
});

test.each(['go.mod', 'go.sum', 'dns/main.go'])('another %s lands in another folder', async (file) => {
  const before = await checkout.run('cluster-programs', 'etcd');
  await checkout.write(`deploy/dev-cluster/programs/${file}`, '2\n');
  const after = await checkout.run('cluster-programs', 'etcd');
  expect(after.status).toBe(0);
  expect(after.out).not.toBe(before.out);
});

test('a build that fails says why, also to those who wait for it, and the next one starts afresh', async () => {
  const good = checkout.env;
  checkout.env = { ...good, FAKE_GO_FAILS: 'yes' };
  const failed = await checkout.run('cluster-programs', 'etcd');
  expect(failed.status).not.toBe(0);
  expect(failed.err).toContain('cannot find module');
  const [name = ''] = await readdir(checkout.cache);
  const folder = join(checkout.cache, name);
  expect(await readFile(join(folder, 'failure.txt'), 'utf8')).toContain('cannot find module');

  checkout.env = good;
  expect((await checkout.run('cluster-programs', 'etcd')).status).toBe(0);
  expect(await readdir(folder)).toEqual(['etcd']);
});

test('a disk without room is said so before anything is built', async () => {
  // /proc has no free space at all.
  checkout.env = { ...checkout.env, FAKE_GOCACHE: '/proc/nothing' };
  await checkout.program('du', 'echo "1000 $2"');
  const refused = await checkout.run('cluster-programs', 'etcd');
  expect(refused.status).not.toBe(0);
  expect(refused.err).toMatch(/needs 11\.0 GiB at \/proc\/nothing, where 0\.0 GiB are free/);
  expect(builds(await checkout.called())).toEqual([]);
});

test('without Go that is what is missing', async () => {
  checkout.env = { ...checkout.env, PATH: '/nowhere' };
  const refused = await checkout.run('cluster-programs', 'etcd');
  expect(refused).toMatchObject({ status: 2, err: expect.stringContaining('golang-go') });
});

describe('builds beside the suites', () => {
  beforeEach(async () => {
    await checkout.usualPrograms();
    await checkout.program('temporal', 'echo temporal version 1');
    await checkout.write('test/fuzz/requirements.txt', 'schemathesis==0\n');
    await checkout.write('test/api/python-client/requirements.txt', 'openapi-python-client==0\n');
  });

  /** In place of the suites: says where the programs will be, and ends when `until` is in that folder. */
  const suites = (until: string) =>
    checkout.write(
      'test/run.ts',
      `import { existsSync } from 'node:fs';
      import { resolve } from 'node:path';
      const folder = process.env.MUSTER_TEST_KUBERNETES_DIR;
      process.stdout.write(folder);
      while (!existsSync(resolve(folder, '${until}'))) await new Promise((resolve) => setTimeout(resolve, 20));`,
    );

  test('a suite that needs programs gets them while it runs', async () => {
    await suites('etcd');
    const { status, out } = await checkout.run('test', 'activity');
    expect(status).toBe(0);
    expect((await readdir(out)).sort()).toEqual(['etcd', 'kube-apiserver']);
  });

  test.each(['kind', 'existing'])('a cluster of %s needs no parts, only what talks to it', async (provider) => {
    await checkout.program('bash', `case "$2" in provider) echo ${provider} ;; esac`);
    await suites('helm');
    const { status, out } = await checkout.run('test', 'cluster');
    expect(status).toBe(0);
    expect((await readdir(out)).sort()).toEqual(['etcd', 'helm', 'kube-apiserver', 'kubectl']);
  });

  test('a suite that needs none starts no build', async () => {
    await suites('..');
    expect((await checkout.run('test', 'domain')).status).toBe(0);
    expect(builds(await checkout.called())).toEqual([]);
  });

  test('a build that is under way ends with the suites', async () => {
    const pidFile = join(checkout.cache, 'pid');
    await checkout.program(
      'go',
      `case "$1" in build) echo $$ > '${pidFile}'; exec /bin/sleep 300 ;; *) echo /tmp ;; esac`,
    );
    await suites('../pid');
    expect((await checkout.run('test', 'activity')).status).toBe(0);
    const pid = Number(await readFile(pidFile, 'utf8'));
    await eventually('the build has ended', () => !isRunning(pid));
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
