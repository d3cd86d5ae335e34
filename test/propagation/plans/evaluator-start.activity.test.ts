/** An evaluator that does not begin: a lack of the machine that passes is told from what somebody has to mend. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createEvaluator } from '../../../drivers/actions/evaluator.ts';
import { startFailure } from '../../../drivers/actions/evaluator-start.ts';
import { launcherMissing, PYTHON } from '../../support/ansible/local-runs.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type BreakableEvaluator, breakableEvaluator } from './breakable-evaluator.ts';
import { EVALUATOR } from './shell-bench.ts';

const TEMPLATES = [{ name: 'x', text: '{{ 1 + 1 }}' }];

describeNeeding(launcherMissing(), 'an evaluator that does not begin', () => {
  let dir: string;
  let broken: BreakableEvaluator;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-evaluator-start-'));
    broken = breakableEvaluator(dir);
  });
  afterEach(async () => {
    await broken.evaluator.stop();
    await rm(dir, { recursive: true, force: true });
  });
  const rendered = () => broken.evaluator.render(TEMPLATES, {});

  test('because its interpreter is missing is a failure, until it is there', async () => {
    await expect(rendered()).rejects.toMatchObject({
      code: 'evaluator_failed',
      detail: expect.stringMatching(/mend the Python of the worker.*ENOENT/),
    });
    await broken.mend();
    expect(await rendered()).toEqual(['2']);
  });

  test.each([
    ['echo "ModuleNotFoundError: No module named \'jinja2\'" >&2; exit 1', /No module named 'jinja2'$/],
    ['exit 3', /it ended at once$/],
    ['sleep 20 & echo broken >&2; exit 1', /broken$/],
    ['kill -SEGV $$', /signal SIGSEGV ended it$/],
  ])('because of %s is a failure', async (script, detail) => {
    await broken.replace(script);
    await expect(rendered()).rejects.toMatchObject({
      code: 'evaluator_failed',
      detail: expect.stringMatching(detail),
    });
  });

  test('because its script is missing is a failure', async () => {
    const none = createEvaluator({ python: PYTHON, script: join(dir, 'none.py'), tempDir: dir });
    await expect(none.render(TEMPLATES, {})).rejects.toMatchObject({
      code: 'evaluator_failed',
      detail: expect.stringContaining('none.py'),
    });
    await none.stop();
  });

  test('for want of memory lacks what may be there soon', async () => {
    await broken.starve();
    await expect(rendered()).rejects.toMatchObject({
      code: 'evaluator_unavailable',
      detail: expect.stringContaining('too little memory'),
    });
    await broken.mend();
    expect(await rendered()).toEqual(['2']);
  });

  test('because it is killed from outside, or late, lacks what may be there soon', async () => {
    await broken.replace('kill -KILL $$');
    await expect(rendered()).rejects.toMatchObject({ code: 'evaluator_unavailable' });
    const late = breakableEvaluator(dir, { startMs: 500 });
    await late.replace('sleep 20');
    await expect(late.evaluator.render(TEMPLATES, {})).rejects.toMatchObject({
      code: 'evaluator_unavailable',
      detail: expect.stringContaining('not ready within 0.5 s'),
    });
    await late.evaluator.stop();
  });

  test('leaves no folder, and begins in another one', async () => {
    await broken.replace('exit 1');
    await expect(rendered()).rejects.toMatchObject({ code: 'evaluator_failed' });
    expect(await readdir(join(dir, 'evaluators'))).toEqual([]);
    await broken.mend();
    expect(await rendered()).toEqual(['2']);
    expect(await readdir(join(dir, 'evaluators'))).toHaveLength(1);
  });

  test('with an answer that is none is a failure', async () => {
    await broken.replace('echo ready; read request; echo no JSON; cat > /dev/null');
    await expect(rendered()).rejects.toMatchObject({
      code: 'evaluator_failed',
      detail: 'the evaluator gave another answer than texts',
    });
  });

  test('after its stop says so', async () => {
    await broken.evaluator.stop();
    await expect(rendered()).rejects.toMatchObject({
      code: 'evaluator_unavailable',
      detail: expect.stringContaining('stopped'),
    });
  });
});

test.each([
  ['EAGAIN', 'evaluator_unavailable'],
  ['ENOMEM', 'evaluator_unavailable'],
  ['EMFILE', 'evaluator_unavailable'],
  ['ENOSPC', 'evaluator_unavailable'],
  ['ENOENT', 'evaluator_failed'],
  ['EACCES', 'evaluator_failed'],
])('%s of the system means %s', (code, meaning) => {
  const error = Object.assign(new Error(`spawn ${EVALUATOR} ${code}`), { code });
  expect(startFailure(error, EVALUATOR)).toMatchObject({ code: meaning, detail: expect.stringContaining(code) });
});
