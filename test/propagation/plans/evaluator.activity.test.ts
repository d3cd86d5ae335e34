/** The evaluator as a process: it answers, is killed when it takes too long, and begins again. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Evaluator } from '../../../domain/propagation/ports.ts';
import { createEvaluator } from '../../../drivers/actions/evaluator.ts';
import { ansibleMissing } from '../../support/ansible/ansible.ts';
import { PYTHON } from '../../support/ansible/local-runs.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { EVALUATOR } from './shell-bench.ts';

describeNeeding(ansibleMissing(), 'the evaluator', () => {
  let dir: string;
  let evaluator: Evaluator;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-evaluator-'));
    evaluator = createEvaluator({ python: PYTHON, script: EVALUATOR, tempDir: dir });
  });
  afterEach(async () => {
    await evaluator.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const one = async (text: string, variables = {}) => (await evaluator.render([{ name: 'x', text }], variables))[0];
  /** Processes of the evaluator that this test has started: their folder is in its own. */
  const processes = async () => {
    const pids = (await readdir('/proc')).filter((name) => /^[0-9]+$/.test(name));
    const lines = await Promise.all(
      pids.map(async (pid) => {
        const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
        if (!command.includes('evaluate.py')) return [];
        const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
        const status = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
        return status.split(') ')[1]?.split(' ')[1] === String(process.pid) ? [{ pid, environment }] : [];
      }),
    );
    return lines.flat();
  };

  test('fills in many templates, whoever asks at the same time, by one process that gets no environment', async () => {
    process.env.EVALUATOR_CANARY = 'of this test';
    const templates = Array.from({ length: 45 }, (_, index) => ({ name: String(index), text: `${index} {{ v }}` }));
    const asked = [1, 2, 3].map((v) => evaluator.render(templates, { v }));
    const texts = await Promise.all(asked);
    expect(texts.map((list) => [list.length, list[0], list.at(-1)])).toEqual([
      [45, '0 1', '44 1'],
      [45, '0 2', '44 2'],
      [45, '0 3', '44 3'],
    ]);
    // What starts an interpreter may set variables of its own.
    expect((await processes()).map(({ environment }) => environment.includes('of this test'))).toEqual([false]);
    const [own = ''] = await readdir(dir);
    expect(await readdir(join(dir, own))).toEqual([]);
  });

  test('says which template is wrong, and goes on', async () => {
    await expect(one('{{ missing }}')).rejects.toMatchObject({
      code: 'validation_failed',
      detail: "x cannot be rendered: 'missing' is undefined",
    });
    expect(await one('{{ v }}', { v: 'fine' })).toBe('fine');
  });

  test('is killed when a template takes too long, and begins again', async () => {
    const long = '{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}';
    const [first, second] = [one(long), one('{{ 1 + 1 }}')];
    await expect(first).rejects.toMatchObject({
      code: 'validation_failed',
      detail: expect.stringContaining('takes more than 1000 ms'),
    });
    expect(await second).toBe('2');
    expect(await processes()).toHaveLength(1);
  });

  test('goes on with another process when its own is killed, and ends for good when it is stopped', async () => {
    expect(await one('a')).toBe('a');
    const [own] = await processes();
    const asked = one('{% for a in range(500) %}{% for b in range(500) %}{% endfor %}{% endfor %}b');
    process.kill(Number(own?.pid), 'SIGKILL');
    expect(await asked).toBe('b');
    await evaluator.stop();
    await expect(one('a')).rejects.toThrow('the evaluator is stopped');
    await eventually('its process is gone', async () => (await processes()).length === 0);
  });
});
