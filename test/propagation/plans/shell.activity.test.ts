/** Shell actions as they really run: what they find, what comes back, what nobody sees, and that they end. */
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { abortPlan, retryPlan, runPlan } from '../../../control/propagation/command-plan.ts';
import { runIdOfOwner } from '../../../domain/runs/owner.ts';
import { launcherMissing, processesWith } from '../../support/ansible/local-runs.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { filesWith, watchProcesses } from '../../support/stack/canary-search.ts';
import { isAtWork, openShellPlans, type ShellBench } from './shell-bench.ts';

const runOf = (attempt: string) => runIdOfOwner({ kind: 'attempt', id: attempt }, 1);

describeNeeding(launcherMissing(), 'a shell action', () => {
  let shell: ShellBench;
  beforeEach(async () => {
    shell = await openShellPlans();
  });
  afterEach(() => shell.close());

  const ended = async (plan: string) => {
    await shell.execute(plan);
    const [node] = await shell.nodes(plan);
    return node;
  };
  const outputOf = async (plan: string) => {
    const [attempt] = await shell.attempts(plan);
    return shell.runs.read(runOf(attempt?.id ?? ''), 'output.log');
  };

  describe('ends', () => {
    const cases: [string, string, string, object][] = [
      ['as changed', 'true', '', { status: 'success', outcome: 'created', message: null }],
      ['as ok where it says so', 'echo MUSTER_OUTCOME=changed; echo MUSTER_OUTCOME=ok; echo b', '', { outcome: 'ok' }],
      ['by its status', 'exit 10', 'outcomes: {"10": ok}', { status: 'success', outcome: 'ok' }],
      [
        'as failed, with its last line',
        'echo first; echo last >&2; exit 3',
        '',
        { status: 'error', outcome: 'failed', message: 'exit status 3: last' },
      ],
      [
        'as error where its status says so',
        'exit 30',
        'outcomes: {"30": error}',
        { outcome: 'error', message: 'exit status 30' },
      ],
      [
        'by its time limit',
        'sleep 600',
        'actions: {run: {file: run.sh, timelimit: 1}}',
        { outcome: 'error', code: 'timelimit', message: 'ExecutionTimeout' },
      ],
    ];
    test.each(cases)('%s', async (_how, script, meta, end) => {
      const { id } = await shell.action(script, meta);
      expect(await ended(id)).toMatchObject(end);
    });
  });

  test('finds its inputs as they are, in its files and as JSON', async () => {
    const canary = join(shell.dir, 'canary');
    const value = `$(touch ${canary}) \`touch ${canary}\` '"; touch ${canary} {{ 7 * 7 }}`;
    const { id } = await shell.action(
      `
      printf '%s\\n' {{ v | quote }}
      cat templates/made.conf templates/plain.conf
      scripts/said {{ resource_name }} {{ action }} {{ occurrence }} {{ attempt }} {{ triggered_by | length }}
      python3 -c 'import json, os; print(json.load(open(os.environ["MUSTER_INPUTS"]))["list"])'
      test "$PWD" = {{ resource_dir | quote }} && echo MUSTER_OUTCOME=ok
      `,
      'input: {v: {schema: str}, list: {schema: [int], value: [1, 2]}}',
      {
        'templates/made.conf.jinja': 'port {{ list[1] }} of {{ resource_args.v | length }}\n',
        'templates/plain.conf': '{{ untouched }}\n',
        'scripts/said': '#!/bin/sh\necho "said $*"\n',
        'other/file': 'is not there',
      },
      { v: value },
    );
    expect(await ended(id)).toMatchObject({ outcome: 'ok' });
    expect((await outputOf(id)).split('\n').slice(0, 5)).toEqual([
      value,
      `port 2 of ${value.length}`,
      '{{ untouched }}',
      'said a run 0 1 0',
      '[1, 2]',
    ]);
    await expect(readFile(canary)).rejects.toThrow();
  });

  test('that cannot be filled in does not begin, and says which file it is', async () => {
    const { id } = await shell.action('echo {{ missing }}');
    expect(await ended(id)).toMatchObject({
      status: 'error',
      outcome: 'error',
      code: 'validation_failed',
      message: "actions/run.sh cannot be rendered: 'missing' is undefined",
    });
    expect(await shell.db.selectFrom('runs').selectAll().execute()).toEqual([]);
  });

  test('gets a secret as a file of its own, and shows it nowhere', async () => {
    const secret = 'canary-4711-of-a-secret';
    const [has, go] = [join(shell.dir, 'has'), join(shell.dir, 'go')];
    await shell.secrets.put('propagation-web', 'password', secret);
    const { id } = await shell.action(
      `
      stat -c %a {{ key }} "$MUSTER_INPUTS" "$(dirname {{ key }})"
      test "$(cat {{ key }})" = "$(tr 0 0 < {{ key }})" && cat {{ key }} && touch ${has}
      until [ -e ${go} ]; do sleep 0.1; done
      exit 20
      `,
      'input: {key: {schema: str, secret: true}, none: {schema: str, secret: true}}',
      {},
      { key: { secret: 'propagation-web', key: 'password' } },
    );
    const watch = watchProcesses([secret]);
    const over = ended(id);
    await eventually('it has the secret', () => existsSync(has));
    const before = watch.looks().count;
    await eventually('more looks', () => watch.looks().count > before + 3);
    await writeFile(go, '');
    expect(await over).toMatchObject({ outcome: 'failed', message: 'exit status 20: ********' });
    await watch.stop();
    expect(watch.found()).toEqual([]);
    expect((await outputOf(id)).split('\n')).toEqual(['600', '600', '700', '********']);
    expect(await filesWith([secret], shell.runs.runsDir)).toMatchObject({ found: [] });
    expect(await shell.tablesWith([secret])).toEqual([]);
    expect(await shell.tablesWith(['propagation-web'])).not.toEqual([]);
  });

  test('whose secret is not there, or may not be named, does not begin', async () => {
    const meta = 'input: {key: {schema: str, secret: true}}';
    const reference = { secret: 'propagation-web', key: 'password' };
    const { id } = await shell.action('true', meta, {}, { key: reference });
    expect(await ended(id)).toMatchObject({ outcome: 'error', code: 'secret_not_found' });
    // Whatever way a name came into the database, it is looked at again.
    await shell.db
      .updateTable('propagation_frozen')
      .set({ value: JSON.stringify({ location_id: 'localhost', key: { ...reference, secret: 'git-password' } }) })
      .execute();
    await retryPlan(shell.deps, id);
    await shell.goOn(id);
    expect(await shell.nodes(id)).toMatchObject([{ attempts: 2, outcome: 'error', code: 'secret_not_allowed' }]);
  });

  test('is ended by an abort with all that it has begun, whatever that traps and wherever it went', async () => {
    const { id } = await shell.action(`
      trap '' TERM
      setsid env -i bash -c 'trap "" TERM; echo $$ > ${join(shell.dir, 'pid')}; while :; do sleep 1; done' &
      while :; do sleep 1; done
    `);
    const over = ended(id);
    const pid = await eventually('the last process', async () => {
      const text = await readFile(join(shell.dir, 'pid'), 'utf8').catch(() => '');
      return Number(text) || null;
    });
    await abortPlan(shell.deps, id);
    await shell.advance(
      id,
      (await shell.attempts(id)).map((attempt) => attempt.id),
    );
    expect(await over).toMatchObject({ status: 'error', outcome: 'error', code: 'cancelled', message: 'Cancelled' });
    expect(isAtWork(pid)).toBe(false);
    const [attempt] = await shell.attempts(id);
    // The launcher itself goes when it has written the end.
    const left = () => processesWith(runOf(attempt?.id ?? ''));
    await eventually('nothing of the run is at work', async () => (await left()).length === 0);
    expect(await filesWith(['trap'], shell.runs.runsDir)).toMatchObject({ found: [] });
  });

  test('runs on the machine of the worker only where that is allowed', async () => {
    const { id } = await shell.action('true');
    await expect(runPlan({ ...shell.deps, allowsLocal: false }, id)).rejects.toMatchObject({ code: 'not_supported' });
    // What was started before the setting changed is refused by the machine.
    const other = await openShellPlans({ allowsLocal: false });
    const plan = await other.action('true');
    await other.execute(plan.id);
    expect(await other.nodes(plan.id)).toMatchObject([{ outcome: 'error', code: 'not_supported' }]);
    await other.close();
  });
});
