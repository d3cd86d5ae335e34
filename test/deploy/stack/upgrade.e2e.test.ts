/** From the release before to this one and back, on one data directory, with work under way. */
import { execFile } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
// @ts-expect-error plain JavaScript without types
import { unpackPrevious } from '../../../bootstrap/previous-images.mjs';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { ROOT } from '../../support/source-tree.ts';
import { cli } from '../../support/stack/command-line.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const MINUTES = 60_000;
const NIGHT = { rollout: { canary: 1, max_at_once: 1 } };

describeNeeding(stackMissing(), 'an upgrade of a plain stack', () => {
  let stack: MusterStack;
  let work: string;
  let base: string;

  /** `./muster` of one of the two releases, on the data directory of the stack. */
  async function muster(release: string, ...args: string[]): Promise<void> {
    await promisify(execFile)(process.execPath, [join(release, 'cli', 'main.ts'), ...args], { env: stack.env });
  }
  const scheduled = async (after: number) => {
    const { sessions } = (await stack.call('GET', '/v3/sessions?limit=500')).body;
    const mine = sessions.filter((each: { name: string }) => each.name.startsWith('min-'));
    return mine.length > after ? mine.length : null;
  };
  const rollout = async () => (await stack.call('GET', '/api/v1/rollouts/compute')).body;

  beforeAll(async () => {
    work = await mkdtemp(join(tmpdir(), 'muster-upgrade-'));
    base = join(work, 'base');
    process.stderr.write(`the release before is ${unpackPrevious(base, ROOT)}\n`);
    symlinkSync(join(ROOT, 'node_modules'), join(base, 'node_modules'));
    // The folder, ports and settings of a stack; the release before is to have it from the beginning.
    stack = await startMusterStack({}, 'own');
    await stack.stop();
    for (const name of ['postgres', 'postgres-passwords.json', 'temporal.db', 'secret.key', 'host-id', 'configmaps']) {
      await rm(join(stack.dataDir, name), { recursive: true, force: true });
    }
    await muster(base, 'up');
    const { url, commit } = await stack.repository('plays');
    const slow = `echo once >> ${work}/begun; until [ -e ${work}/go ]; do sleep 0.2; done`;
    await commit({
      'quick.yml': '- hosts: all\n  gather_facts: false\n  tasks:\n    - command: "true"\n',
      'slow.yml': `- hosts: all\n  gather_facts: false\n  tasks:\n    - shell: ${slow}\n`,
      'gate.yml': `- hosts: all\n  gather_facts: false\n  tasks:\n    - shell: until [ -e ${work}/go ]; do sleep 0.2; done\n`,
    });
    await stack.configure('quick', url, ['quick.yml'], ['h1']);
    await stack.configure('slow', url, ['slow.yml'], ['h2']);
    await stack.create('done', 'quick', { ansible_limit: 'h1' });
    await stack.untilComplete('done', 2 * MINUTES);
    expect((await stack.call('PUT', '/api/v1/secrets/site/key', { value: 'of before' })).status).toBe(204);
    const minutely = ['minutely', '--cron', '* * * * *', '--session', 'quick', '--prefix', 'min'];
    expect((await cli(['schedule', 'create', ...minutely], { url: stack.url })).exit).toBe(0);
    const layers = [{ clone_url: url, playbook: 'gate.yml', branch: 'main' }];
    expect((await stack.call('PUT', '/v3/configurations/compute', { layers, muster: NIGHT })).status).toBe(200);
    const components = ['r1', 'r2'].map((id) => ({
      id,
      desired_config: 'compute',
      enabled: true,
      tags: { ansible_connection: 'local' },
    }));
    expect((await stack.call('PUT', '/v3/components', components)).status).toBe(200);
    await eventually('a rollout has begun', async () => (await rollout()).state === 'canary', 2 * MINUTES);
    await stack.create('across', 'slow', { ansible_limit: 'h2' });
    await stack.untilWritten(join(work, 'begun'), 'once', 2 * MINUTES);
  }, 10 * MINUTES);
  afterAll(async () => {
    writeFileSync(join(work, 'go'), '');
    await stack?.remove();
    await rm(work, { recursive: true, force: true });
  }, 2 * MINUTES);

  test(
    'keeps what is done, finds the playbook that runs, and goes on with schedule and rollout',
    async () => {
      const before = (await stack.call('GET', '/v3/sessions/done')).body;
      const backup = join(work, 'before-upgrade');
      await muster(ROOT, 'backup', backup);
      await muster(base, 'down', '--keep-runs');
      await muster(ROOT, 'up');
      expect((await stack.call('GET', '/v3/sessions/done')).body).toEqual(before);
      expect((await stack.session('across')).status.session.status).toBe('running');
      expect((await stack.call('PUT', '/api/v1/secrets/site/other', { value: 'of after' })).status).toBe(204);
      writeFileSync(join(work, 'go'), '');
      expect((await stack.untilComplete('across', 2 * MINUTES)).status.session.succeeded).toBe('true');
      expect(await stack.untilWritten(join(work, 'begun'), 'once')).toBe('once\n');
      const runs = (await scheduled(-1)) ?? 0;
      await eventually('the schedule goes on', () => scheduled(runs), 3 * MINUTES);
      await eventually('the rollout ends', async () => (await rollout()).state === 'done', 5 * MINUTES);
    },
    15 * MINUTES,
  );

  test(
    'can be taken back, and nothing is lost',
    async () => {
      await muster(ROOT, 'down', '--keep-runs');
      await muster(base, 'up');
      expect((await stack.session('across')).status.session.succeeded).toBe('true');
      await stack.create('back', 'quick', { ansible_limit: 'h1' });
      expect((await stack.untilComplete('back', 2 * MINUTES)).status.session.succeeded).toBe('true');
      await muster(base, 'down', '--keep-runs');
      await muster(ROOT, 'up');
      await stack.create('again', 'quick', { ansible_limit: 'h1' });
      expect((await stack.untilComplete('again', 2 * MINUTES)).status.session.succeeded).toBe('true');
    },
    8 * MINUTES,
  );
});
