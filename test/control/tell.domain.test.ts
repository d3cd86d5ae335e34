/** How Temporal is told of records, with a Temporal that answers as the test wants. */
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { ServiceError, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import type { SignalDefinition } from '@temporalio/common';
import { startOnce } from '../../control/temporal/start-once.ts';
import { createTell, tellOrThrow, type WantedWorkflow } from '../../control/temporal/tell.ts';
import { answeringClient, type Exchange } from '../support/temporal/told.ts';

let asked: Exchange[];
let logged: { fields: Record<string, unknown>; message: string }[];
let answer: (exchange: Exchange) => Promise<unknown>;
beforeEach(() => {
  asked = [];
  logged = [];
  answer = async () => undefined;
});

const client = answeringClient((exchange) => {
  asked.push(exchange);
  return answer(exchange);
});
const log = { warn: (fields: object, message: string) => void logged.push({ fields: { ...fields }, message }) };
const tellIn = (exchangeMs?: number) =>
  createTell({ client, log, ...(exchangeMs === undefined ? {} : { exchangeMs }) });

const wanted = (id: string, more: Partial<WantedWorkflow> = {}): WantedWorkflow => ({
  workflowType: 'endRunWorkflow',
  workflowId: `toy/${id}`,
  args: [{ id }],
  staticSummary: 'a toy',
  ...more,
});
const many = (count: number) => Array.from({ length: count }, (_, index) => wanted(String(index)));
const pokeToy = { type: 'signal', name: 'pokeToy' } as SignalDefinition<[]>;
const alreadyStarted = () => new WorkflowExecutionAlreadyStartedError('already started', 'toy/1', 'endRunWorkflow');

describe('a record', () => {
  test.each<[string, Partial<WantedWorkflow>, object]>([
    ['is started where its workflow is not open', {}, { workflowIdConflictPolicy: 'FAIL', taskQueue: 'muster' }],
    ['is signalled with start where it has a word', { signal: pokeToy }, { signal: pokeToy, taskQueue: 'muster' }],
    ['is told on a queue of its own', { taskQueue: 'other' }, { taskQueue: 'other' }],
    ['keeps the limit of its run', { workflowRunTimeout: '4h' }, { workflowRunTimeout: '4h' }],
  ])('%s', async (_what, more, options) => {
    await tellIn()([wanted('1', more)]);
    expect(asked).toMatchObject([
      {
        workflowType: 'endRunWorkflow',
        options: {
          ...{ workflowId: 'toy/1', args: [{ id: '1' }], staticSummary: 'a toy' },
          ...{ workflowIdReusePolicy: 'ALLOW_DUPLICATE', ...options },
        },
      },
    ]);
    expect(logged).toEqual([]);
  });

  test('whose workflow is open is told, and nothing is said of it', async () => {
    answer = () => Promise.reject(alreadyStarted());
    await tellIn()([wanted('1')]);
    expect([asked.length, logged]).toEqual([1, []]);
  });

  test('that Temporal does not take is logged, and the teller does not hear of it', async () => {
    answer = () =>
      Promise.reject(
        new ServiceError('Failed to start Workflow', { cause: new Error('14 UNAVAILABLE: no connection') }),
      );
    expect(await tellIn()([wanted('1')])).toBeUndefined();
    expect(logged).toEqual([
      {
        fields: { workflow: 'toy/1', err: 'Failed to start Workflow: 14 UNAVAILABLE: no connection' },
        message: 'Temporal was not told of a record; the sweep tells it',
      },
    ]);
  });

  test('is waited for only so long, whatever the client does', async () => {
    const late = Promise.withResolvers<void>();
    answer = () => late.promise;
    const begun = performance.now();
    await tellIn(50)([wanted('1')]);
    expect(performance.now() - begun).toBeLessThan(2_000);
    expect(logged[0]?.fields).toEqual({ workflow: 'toy/1', err: 'no answer within 0.05 s' });
    // What fails after that hurts nobody.
    late.reject(new Error('too late'));
    await delay(1);
  });

  test('is no matter when there is none', async () => {
    await tellIn()([]);
    expect([asked, logged]).toEqual([[], []]);
  });
});

describe('many records', () => {
  test('are all told, in their order, 16 at once', async () => {
    let [open, most] = [0, 0];
    answer = async () => {
      open += 1;
      most = Math.max(most, open);
      await delay(1);
      open -= 1;
    };
    await tellIn()(many(100));
    expect(asked.map(({ options }) => options.workflowId)).toEqual(many(100).map(({ workflowId }) => workflowId));
    expect(most).toBe(16);
  });

  test('are told for so long, and how many are left is logged', async () => {
    // No answer comes before the time is over: the first exchanges are the last.
    answer = () => delay(1_100);
    await tellIn()(many(1_000), 1_000);
    expect(asked).toHaveLength(16);
    const [{ fields, message } = { fields: {}, message: '' }, ...others] = logged;
    expect(fields).toEqual({ untold: 1_000 - asked.length, workflow: `toy/${asked.length}` });
    expect(message).toBe('Temporal is slow: the sweep tells it of the other records');
    expect(others).toEqual([]);
  });

  test('that fail do not keep others from being told', async () => {
    answer = ({ options }) => (options.workflowId === 'toy/1' ? Promise.reject(new Error('no')) : Promise.resolve());
    await tellIn()(many(3));
    expect(asked).toHaveLength(3);
    expect(logged.map(({ fields }) => fields.workflow)).toEqual(['toy/1']);
  });
});

describe('who tries again by himself', () => {
  test('hears what Temporal says', async () => {
    answer = () => Promise.reject(new Error('14 UNAVAILABLE'));
    await expect(tellOrThrow(client, wanted('1'))).rejects.toThrow('14 UNAVAILABLE');
    answer = () => Promise.reject(alreadyStarted());
    expect(await tellOrThrow(client, wanted('1'))).toBeUndefined();
  });

  test.each<[string, () => Promise<unknown>, boolean | string]>([
    ['a workflow that is not open', async () => undefined, true],
    ['one that is open', () => Promise.reject(alreadyStarted()), false],
    ['no answer', () => Promise.reject(new Error('no answer')), 'no answer'],
  ])('starts once: %s', async (_what, given, expected) => {
    answer = given;
    const options = { workflowId: 'a', taskQueue: 'q', args: [], workflowIdReusePolicy: 'REJECT_DUPLICATE' as const };
    const started = startOnce(client, 'endRunWorkflow', options).catch((error: Error) => error.message);
    expect(await started).toBe(expected);
    expect(asked[0]?.options).toMatchObject({ ...options, workflowIdConflictPolicy: 'FAIL' });
  });
});
