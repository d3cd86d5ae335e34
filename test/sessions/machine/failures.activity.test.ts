import { describe, expect, jest, test } from '@jest/globals';
import { CancelledFailure } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { sql } from 'kysely';
import { withHeartbeat } from '../../../activities/heartbeat.ts';
import { failureOf } from '../../../control/failures.ts';
import { musterError } from '../../../domain/errors.ts';
import { openDatabase } from '../../../store/connection/database.ts';
import { translateFailures } from '../../../worker/failure-interceptor.ts';
import { freePort } from '../../support/free-port.ts';
import { activityEnvironment } from '../../support/stack/session-machine.ts';

/** The failure that Temporal gets for `error`. */
async function translated(error: unknown): Promise<unknown> {
  const interceptor = translateFailures();
  try {
    await interceptor.execute?.({ args: [], headers: {} }, () => Promise.reject(error));
  } catch (failure) {
    return failure;
  }
  throw new Error('nothing was thrown');
}

describe('a failure of an activity', () => {
  test.each([
    ['a rule', musterError('playbook_missing', 'no site.yml'), 'playbook_missing', 'no site.yml', true],
    ['something that may pass', musterError('clone_failed', 'no route'), 'clone_failed', 'no route', false],
    [
      'a full disk',
      Object.assign(new Error('ENOSPC: x'), { code: 'ENOSPC' }),
      'disk_low',
      'no space is left on the disk: ENOSPC: x',
      false,
    ],
    ['a bug', new TypeError('x is not a function'), 'internal', 'x is not a function', false],
    ['something that is no error', 'odd', 'internal', 'odd', false],
  ])(
    'of %s has its code, its sentence and whether to try again',
    async (_title, error, type, message, nonRetryable) => {
      const failure = await translated(error);
      expect(failure).toBeInstanceOf(ApplicationFailure);
      expect(failure).toMatchObject({ type, message, nonRetryable });
    },
  );

  test('that nobody expected says where it was', async () => {
    const error = new Error('x'.repeat(5_000));
    const failure = (await translated(error)) as ApplicationFailure;
    expect(failure.message).toHaveLength(1_000);
    expect(failure.stack?.length).toBeLessThanOrEqual(2_000);
    expect(error.stack?.startsWith(failure.stack ?? '?')).toBe(true);
  });

  test('that is in the words of Temporal already stays as it is', async () => {
    for (const error of [new CancelledFailure('cancelled'), ApplicationFailure.nonRetryable('no', 'internal')]) {
      expect(await translated(error)).toBe(error);
    }
  });

  test('of a database that is away is known as such', async () => {
    const db = openDatabase({ url: `postgres://u:p@127.0.0.1:${await freePort()}/d`, poolSize: 1 });
    const error = await sql`select 1`.execute(db).catch((failed: unknown) => failed);
    expect(failureOf(error)).toMatchObject({
      code: 'storage_unavailable',
      detail: expect.stringContaining('database is away'),
    });
    await db.destroy();
  });
});

describe('the heartbeat', () => {
  /** How many timers of ours are left after `work`. */
  const timersAfter = async (work: () => Promise<unknown>): Promise<number> => {
    const set = jest.spyOn(globalThis, 'setInterval');
    const clear = jest.spyOn(globalThis, 'clearInterval');
    try {
      await work().catch(() => undefined);
      const cleared = clear.mock.calls.map(([timer]): unknown => timer);
      return set.mock.results.filter(({ value }) => !cleared.includes(value)).length;
    } finally {
      set.mockRestore();
      clear.mockRestore();
    }
  };

  test.each([
    ['an answer', async () => 1],
    ['a failure', () => Promise.reject(new Error('no'))],
    [
      'a failure at once',
      () => {
        throw new Error('no');
      },
    ],
  ])('stops after %s', async (_title, work) => {
    const environment = activityEnvironment();
    expect(await timersAfter(() => environment.run(() => withHeartbeat(work as () => Promise<unknown>)))).toBe(0);
  });

  test('stops when what it would send cannot be made', async () => {
    const bad = () => {
      throw new Error('no details');
    };
    const environment = activityEnvironment();
    expect(await timersAfter(() => environment.run(() => withHeartbeat(async () => 1, bad)))).toBe(0);
  });

  test('carries a checkpoint', async () => {
    const environment = activityEnvironment();
    const sent: unknown[] = [];
    environment.on('heartbeat', (details) => sent.push(details));
    await environment.run(() =>
      withHeartbeat(
        async () => undefined,
        () => ({ line: 3 }),
      ),
    );
    expect(sent).toEqual([{ line: 3 }]);
  });

  test('turns what a cancellation broke off into a cancellation, and nothing else', async () => {
    const environment = activityEnvironment();
    const work = withinCancelled(
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('broke off')))),
    );
    const running = environment.run(work);
    running.catch(() => undefined);
    environment.cancel('CANCELLED');
    await expect(running).rejects.toBeInstanceOf(CancelledFailure);
    await expect(
      activityEnvironment().run(withinCancelled(() => Promise.reject(new Error('broke off')))),
    ).rejects.toThrow('broke off');
    const done = activityEnvironment();
    const finished = done.run(withinCancelled(async () => 'done'));
    done.cancel('CANCELLED');
    expect(await finished).toBe('done');
  });
});

function withinCancelled(work: (signal: AbortSignal) => Promise<unknown>): () => Promise<unknown> {
  return () => withHeartbeat(work);
}
