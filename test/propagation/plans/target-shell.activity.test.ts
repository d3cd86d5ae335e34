/** Shell actions at targets, over ssh: what they find there, what comes back, and that nothing of them is left. */
import { existsSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { abortPlan } from '../../../control/propagation/command-plan.ts';
import { updateInputs } from '../../../control/propagation/update-inputs.ts';
import { ansibleMissing } from '../../support/ansible/ansible.ts';
import { launcherMissing } from '../../support/ansible/local-runs.ts';
import { sshMissing } from '../../support/ansible/ssh-server.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { filesWith, watchProcesses } from '../../support/stack/canary-search.ts';
import { isAtWork } from './shell-bench.ts';
import { openTargetPlans, type TargetBench } from './target-bench.ts';

const LIMIT = 300_000;

const areGone = (pids: readonly number[]) => eventually('the end of the action', () => !pids.some(isAtWork));

describeNeeding(ansibleMissing() ?? launcherMissing() ?? sshMissing(), 'a shell action at a target', () => {
  let bench: TargetBench;
  beforeEach(async () => {
    bench = await openTargetPlans();
  });
  afterEach(() => bench.close());

  test(
    'finds its files and its inputs there, and leaves nothing',
    async () => {
      await bench.node();
      const plan = await bench.action(
        `
      echo "$FAR $(test -n "$SSH_CONNECTION" && echo by-ssh)"
      test "$PWD" = {{ resource_dir | quote }} && stat -c %a . "$MUSTER_INPUTS"
      cat templates/made.conf
      scripts/said {{ v | quote }}
      python3 -c 'import json, os; print(json.load(open(os.environ["MUSTER_INPUTS"]))["v"])'
      echo MUSTER_OUTCOME=ok
      `,
        {
          meta: 'input: {v: {schema: str}}',
          files: {
            'templates/made.conf.jinja': 'of {{ resource_name }} {{ action }}\n',
            'scripts/said': '#!/bin/sh\necho "said $1"\n',
          },
          inputs: { v: `$(id) '"; {{ 7 * 7 }}` },
        },
      );
      expect(await bench.ended(plan)).toMatchObject({ status: 'success', outcome: 'ok', message: null, code: null });
      expect((await bench.output(plan)).split('\n')).toEqual([
        ...['yes by-ssh', '700', '600', 'of a run', `said $(id) '"; {{ 7 * 7 }}`, `$(id) '"; {{ 7 * 7 }}`],
        ...['MUSTER_OUTCOME=ok', ''],
      ]);
      const { run, folder } = await bench.attempt(plan);
      expect(existsSync(folder)).toBe(false);
      expect(await readdir(join(bench.runs.runsDir, run))).not.toContain('action');
      expect(await bench.noted(plan)).toMatchObject([
        { type: 'target_begun' },
        { type: 'target_end', data: { end: 'exited', status: 0 } },
      ]);
    },
    LIMIT,
  );

  describe('ends by its own status', () => {
    const cases: [number, string, object][] = [
      [0, '', { outcome: 'created', message: null }],
      [10, 'outcomes: {"10": ok}', { outcome: 'ok' }],
      [3, '', { outcome: 'failed', message: 'exit status 3: said' }],
      [30, 'outcomes: {"30": error}', { outcome: 'error', message: 'exit status 30: said' }],
      // That of ssh where it fails itself.
      [255, '', { outcome: 'failed', code: null, message: 'exit status 255: said' }],
      [255, 'outcomes: {"255": changed}', { outcome: 'created' }],
    ];
    test.each(cases)(
      '%i, %s',
      async (status, meta, end) => {
        await bench.node();
        expect(await bench.ended(await bench.action(`echo said; exit ${status}`, { meta }))).toMatchObject(end);
      },
      LIMIT,
    );
  });

  test(
    'gets a secret as a file there, and shows it nowhere',
    async () => {
      const secret = 'canary-4711-of-a-secret';
      await bench.secrets.put('propagation-web', 'password', secret);
      await bench.node();
      const [has, go] = [join(bench.dir, 'has'), join(bench.dir, 'go')];
      const waits = `touch ${has}; until test -e ${go}; do sleep 0.1; done`;
      const script = `stat -c %a {{ key }}; cat {{ key }}; ${waits}; exit 20`;
      const plan = await bench.action(script, {
        meta: 'input: {key: {schema: str, secret: true}}',
        inputs: { key: { secret: 'propagation-web', key: 'password' } },
      });
      const watch = watchProcesses([secret]);
      const over = bench.ended(plan);
      await eventually('it has the secret', () => existsSync(has));
      const before = watch.looks().count;
      await eventually('more looks', () => watch.looks().count > before + 3);
      await writeFile(go, '');
      expect(await over).toMatchObject({ outcome: 'failed', message: 'exit status 20: ********' });
      await watch.stop();
      expect(watch.found()).toEqual([]);
      expect((await bench.output(plan)).split('\n')).toEqual(['600', '********']);
      expect(await filesWith([secret], bench.runs.runsDir)).toMatchObject({ found: [] });
      expect(await bench.tablesWith([secret, bench.key.split('\n')[2] ?? ''])).toEqual([]);
      expect(existsSync((await bench.attempt(plan)).folder)).toBe(false);
    },
    LIMIT,
  );

  test(
    'is heard while it goes on',
    async () => {
      await bench.node();
      const go = join(bench.dir, 'go');
      const plan = await bench.action(`echo first; until test -e ${go}; do sleep 0.1; done`);
      const over = bench.ended(plan);
      await eventually('its output', async () => {
        const rows = await bench.db.selectFrom('output').select('text').execute();
        return rows.some(({ text }) => text.includes('first'));
      });
      await writeFile(go, '');
      expect(await over).toMatchObject({ outcome: 'created' });
    },
    LIMIT,
  );

  test(
    'becomes root by sudo where its transport says so, and is an error where that is refused',
    async () => {
      await bench.node({ become: true });
      const plan = await bench.action('echo "by sudo: $BY_SUDO"; exit 3');
      expect(await bench.ended(plan)).toMatchObject({ outcome: 'failed', message: 'exit status 3: by sudo: yes' });

      await bench.abandonAll();
      await writeFile(join(bench.dir, 'refuses'), '');
      const again = (await bench.process()).id;
      expect(await bench.ended(again)).toMatchObject({
        ...{ outcome: 'error', code: null },
        message: 'The target did not begin the action: sudo: a password is required',
      });
      expect(await bench.attempt(again)).toMatchObject({ verified: true });
      expect(await bench.noted(again)).toMatchObject([{ type: 'target_end', data: { end: 'refused' } }]);
    },
    LIMIT,
  );

  test(
    'reaches no host with another key, and none without a key',
    async () => {
      const other = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJdD7y3aLq454yWBdwLWbieU1ebz9/cu7/QEXn9OIeZJ';
      await bench.node({ host_key: other });
      const plan = await bench.action(`touch ${join(bench.dir, 'out')}`);
      expect(await bench.ended(plan)).toMatchObject({
        ...{ outcome: 'error', code: 'unreachable' },
        message: expect.stringContaining('The target is unreachable: '),
      });
      await updateInputs(bench.deps, 'n1-ssh', { host_key: '' });
      await bench.abandonAll();
      expect(await bench.ended((await bench.process()).id)).toMatchObject({
        ...{ outcome: 'error', code: 'validation_failed' },
        message: expect.stringContaining('no host_key'),
      });
      expect(existsSync(join(bench.dir, 'out'))).toBe(false);
    },
    LIMIT,
  );

  test(
    'at a target that is not there is an error, and nothing is in doubt',
    async () => {
      await bench.node();
      await bench.way.cut();
      const plan = await bench.action('true');
      expect(await bench.ended(plan)).toMatchObject({ outcome: 'error', code: 'unreachable' });
      expect(await bench.attempt(plan)).toMatchObject({ verified: true });
    },
    LIMIT,
  );

  test(
    'runs on a component with the identity of sessions, as who logs in',
    async () => {
      await bench.component('x1', { ansible_host: '127.0.0.1', ansible_port: String(bench.port) });
      await bench.component('x2', { ansible_connection: 'local' });
      const at = (id: string) => ({ on: null, inputs: { location_id: `component:${id}` } });
      const plan = await bench.action('echo "$FAR, by sudo: $BY_SUDO"; exit 3', at('x1'));
      expect(await bench.ended(plan)).toMatchObject({ outcome: 'failed', message: 'exit status 3: yes, by sudo:' });

      await updateInputs(bench.deps, 'a', { location_id: 'component:x2' });
      await bench.abandonAll();
      expect(await bench.ended((await bench.process()).id)).toMatchObject({ outcome: 'error', code: 'not_supported' });
    },
    LIMIT,
  );

  test(
    'is ended by an abort with all that it has begun, whatever that traps and wherever it went',
    async () => {
      await bench.node();
      const plan = await bench.action(bench.stubborn);
      const over = bench.ended(plan);
      const pids = await bench.stubbornBegan();
      await abortPlan(bench.deps, plan);
      await bench.advance(plan, [(await bench.attempt(plan)).id]);
      expect(await over).toMatchObject({ outcome: 'error', code: 'cancelled', message: 'Cancelled' });
      expect(pids.filter(isAtWork)).toEqual([]);
      expect(await bench.attempt(plan)).toMatchObject({ verified: true });
      expect(existsSync((await bench.attempt(plan)).folder)).toBe(false);
      expect(await bench.db.selectFrom('propagation_leases').selectAll().execute()).toEqual([]);
    },
    LIMIT,
  );

  test(
    'is ended by its time limit, there as well',
    async () => {
      await bench.node();
      const plan = await bench.action(bench.stubborn, { meta: 'actions: {run: {file: run.sh, timelimit: 30}}' });
      const over = bench.ended(plan);
      const pids = await bench.stubbornBegan();
      expect(await over).toMatchObject({ outcome: 'error', code: 'timelimit', message: 'ExecutionTimeout' });
      expect(pids.filter(isAtWork)).toEqual([]);
    },
    LIMIT,
  );

  test(
    'whose target is lost in the middle is an error, once it is seen to be gone over another connection',
    async () => {
      await bench.node();
      const plan = await bench.action(bench.stubborn);
      const over = bench.ended(plan);
      const pids = await bench.stubbornBegan();
      await bench.way.cut();
      // The way is mended while the target is asked for.
      await eventually('the end of its run', async () => (await bench.noted(plan)).length === 2);
      await bench.way.mend();
      expect(await over).toMatchObject({
        ...{ outcome: 'error', code: 'unreachable' },
        message: expect.stringMatching(/^The connection to the target was lost: /),
      });
      expect(pids.filter(isAtWork)).toEqual([]);
      expect(await bench.attempt(plan)).toMatchObject({ verified: true });
      expect(await bench.noted(plan)).toMatchObject([{ type: 'target_begun' }, { data: { end: 'lost' } }]);
    },
    LIMIT,
  );

  test(
    'goes on when its watcher is let go, and the next one has its status',
    async () => {
      await bench.node();
      const go = join(bench.dir, 'go');
      const plan = await bench.action(`until test -e ${go}; do sleep 0.1; done; exit 4`);
      const { attempt, letGo } = await bench.begun(plan);
      await letGo();
      await writeFile(go, '');
      await bench.bring(plan, attempt);
      await bench.goOn(plan);
      expect(await bench.nodeOf(plan)).toMatchObject({ outcome: 'failed', message: 'exit status 4' });
    },
    LIMIT,
  );
});

describeNeeding(ansibleMissing() ?? launcherMissing() ?? sshMissing(), 'a target that stays away', () => {
  let bench: TargetBench;
  beforeEach(async () => {
    bench = await openTargetPlans({ endTries: { count: 2, pauseMs: 100 } });
  });
  afterEach(() => bench.close());

  test(
    'leaves its action in doubt: no further attempt follows, and its lease is held',
    async () => {
      await bench.node();
      const plan = await bench.action(bench.stubborn, { meta: 'actions: {run: {file: run.sh, retry: 3}}' });
      const over = bench.ended(plan);
      const pids = await bench.stubbornBegan();
      await bench.way.cut();
      expect(await over).toMatchObject({
        ...{ outcome: 'error', code: 'unreachable', attempts: 1 },
        message: expect.stringMatching(/^The connection to the target was lost \(not verified\)/),
      });
      const { id, verified } = await bench.attempt(plan);
      expect(verified).toBe(false);
      const leases = await bench.db.selectFrom('propagation_leases').select(['kind', 'attempt']).execute();
      expect(leases).toEqual(expect.arrayContaining([{ kind: 'target', attempt: id }]));
      // The target ends it nevertheless: it has lost who asked for it.
      await areGone(pids);
    },
    LIMIT,
  );

  test(
    'leaves an action in doubt whose run was lost with all that it had noted',
    async () => {
      await bench.node();
      const plan = await bench.action(bench.stubborn);
      const { attempt, letGo } = await bench.begun(plan);
      const pids = await bench.stubbornBegan();
      await letGo();
      const { run } = await bench.attempt(plan);
      await rm(join(bench.runs.runsDir, run), { recursive: true });
      await bench.db.deleteFrom('events').where('stream_id', '=', run).execute();
      await bench.way.cut();
      await bench.bring(plan, attempt);
      await bench.goOn(plan);
      expect(await bench.nodeOf(plan)).toMatchObject({ code: 'run_lost', message: 'The run was lost (not verified)' });
      await areGone(pids);
    },
    LIMIT,
  );

  test(
    'leaves an action in doubt that is aborted',
    async () => {
      await bench.node();
      const plan = await bench.action(bench.stubborn);
      const over = bench.ended(plan);
      const pids = await bench.stubbornBegan();
      // Nothing passes any more, and nothing is closed.
      bench.way.freeze();
      await abortPlan(bench.deps, plan);
      await bench.advance(plan, [(await bench.attempt(plan)).id]);
      await bench.way.cut();
      expect(await over).toMatchObject({ code: 'cancelled', message: 'Cancelled (not verified)' });
      await areGone(pids);
    },
    LIMIT,
  );
});
