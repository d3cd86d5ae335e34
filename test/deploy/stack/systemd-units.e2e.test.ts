import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { stackStatus } from '../../../deploy/stack/background.ts';
import { ansibleBin } from '../../support/ansible/ansible.ts';
import { eventually } from '../../support/eventually.ts';
import { findProgram } from '../../support/find-program.ts';
import { freePort } from '../../support/free-port.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { ROOT } from '../../support/source-tree.ts';
import { stackMissing } from '../../support/stack/muster-stack.ts';
import { processEnvironment } from '../../support/stack/process-environment.ts';
import { placeOnServers } from '../../support/stack/shared-servers.ts';
import { temporalBinary } from '../../support/temporal/temporal-binary.ts';

const FOLDER = join(ROOT, 'deploy', 'systemd');
const UNITS = readdirSync(FOLDER).filter((name) => name.endsWith('.service'));
const MINUTES = 60_000;
/** Exposure in tenths, of 100, that systemd-analyze may find at most: its word for it is "OK". */
const EXPOSURE = '20';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-units-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

/** A unit as it is for this checkout. */
const unit = (name: string): string =>
  readFileSync(join(FOLDER, name), 'utf8')
    .replaceAll('/opt/muster', ROOT)
    .replaceAll('/var/lib/muster', join(dir, 'lib'))
    .replaceAll('/run/muster', dir);

const valuesOf = (text: string, key: string): string[] =>
  [...text.matchAll(new RegExp(`^${key}=(.*)$`, 'gm'))].map(([, value = '']) => value);

/** Starts what the unit starts, with its environment and the settings of the site. */
function start(name: string, settings: Record<string, string>): { child: ChildProcess; said: () => string } {
  const text = unit(name);
  const own = valuesOf(text, 'Environment').map((entry) => entry.split(/=(.*)/s).slice(0, 2) as [string, string]);
  const env = {
    ...processEnvironment(),
    ...Object.fromEntries(own.filter(([key]) => key !== 'MUSTER_CACHE_DIR')),
    HOME: process.env.HOME ?? '/',
    ...settings,
  };
  const [command = ''] = valuesOf(text, 'ExecStart');
  const child = spawn('/bin/sh', ['-c', `exec ${command}`], {
    cwd: valuesOf(text, 'WorkingDirectory')[0],
    env,
    detached: true,
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
    });
  }
  return { child, said: () => said };
}

async function stop({ child, said }: ReturnType<typeof start>): Promise<number | null> {
  if (child.exitCode !== null) throw new Error(`it ended by itself: ${said()}`);
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const [code] = await ended;
  return code;
}

const untilHealthy = (port: number, started: ReturnType<typeof start>) =>
  eventually(
    'it is healthy',
    async () => {
      if (started.child.exitCode !== null) throw new Error(started.said());
      return fetch(`http://127.0.0.1:${port}/healthz`).then(
        (answer) => answer.status === 200,
        () => false,
      );
    },
    3 * MINUTES,
  );

const missing = findProgram('systemd-analyze') === null ? 'systemd-analyze is missing (Debian: systemd)' : null;

describeNeeding(missing, 'the units of systemd', () => {
  test('are three', () => {
    expect(UNITS.sort()).toEqual(['muster-api.service', 'muster-worker.service', 'muster.service']);
  });

  test.each(UNITS)('%s is well-formed, and closed to what it does not need', async (name) => {
    const path = join(dir, name);
    await writeFile(path, unit(name));
    const { stdout, stderr } = await promisify(execFile)('systemd-analyze', ['verify', path]);
    expect(`${stdout}${stderr}`).toBe('');
    await promisify(execFile)('systemd-analyze', ['security', '--offline=true', `--threshold=${EXPOSURE}`, path]);
  });
});

describeNeeding(stackMissing(), 'what the units start', () => {
  test(
    'muster.service: the whole stack, until it is told to stop',
    async () => {
      const port = await freePort();
      const settings = {
        MUSTER_API_PORT: String(port),
        MUSTER_POSTGRES_PORT: String(await freePort()),
        MUSTER_TEMPORAL_PORT: String(await freePort()),
        MUSTER_TEMPORAL_UI_PORT: String(await freePort()),
        MUSTER_TEMPORAL_BINARY: temporalBinary() ?? '',
      };
      const started = start('muster.service', settings);
      await untilHealthy(port, started);
      await eventually(
        'all of it runs',
        async () => (await stackStatus(join(dir, 'lib')))?.state === 'running',
        3 * MINUTES,
      );
      expect(await stop(started)).toBe(0);
    },
    5 * MINUTES,
  );

  test(
    'muster-api.service and muster-worker.service: both, on servers of the site',
    async () => {
      const place = await placeOnServers();
      if (place === null) throw new Error('this run has no servers to share');
      const port = await freePort();
      const settings = { ...place.settings, MUSTER_API_PORT: String(port), MUSTER_ANSIBLE_BIN_DIR: ansibleBin() };
      const [api, worker] = [start('muster-api.service', settings), start('muster-worker.service', settings)];
      try {
        await untilHealthy(port, api);
        await eventually(
          'a worker is at work',
          async () => {
            if (worker.child.exitCode !== null) throw new Error(worker.said());
            const answer = await fetch(`http://127.0.0.1:${port}/api/v1/status`);
            return ((await answer.json()) as { workers: { count: number } | null }).workers?.count === 1;
          },
          3 * MINUTES,
        );
        expect([await stop(api), await stop(worker)]).toEqual([0, 0]);
      } finally {
        for (const { child } of [api, worker]) child.kill('SIGKILL');
        await place.remove();
      }
    },
    6 * MINUTES,
  );
});

describe('every unit', () => {
  test.each(UNITS)('%s keeps playbooks alive, or starts none, and gives the settings one place', (name) => {
    const text = readFileSync(join(FOLDER, name), 'utf8');
    expect(valuesOf(text, 'EnvironmentFile')).toEqual(['-/etc/muster/muster.env']);
    if (name !== 'muster-api.service') expect(valuesOf(text, 'KillMode')).toEqual(['process']);
  });
});
