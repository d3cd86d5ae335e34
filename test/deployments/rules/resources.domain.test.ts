import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ClusterAnswer, type ClusterCall, classOf, cleanText } from '../../../domain/deployments/answer-class.ts';
import {
  inDependencyOrder,
  instructionOf,
  isReady,
  namesOf,
  reversed,
} from '../../../domain/deployments/dependencies.ts';
import { foundBeforeApply, stepOfDelete } from '../../../domain/deployments/finding.ts';
import {
  isDone,
  isStatusChange,
  RSYNC_STATUSES,
  type RsyncStatus,
  statusAfter,
  statusAtTerminate,
} from '../../../domain/deployments/resource-status.ts';
import { isExhausted, readMaxRetries, waitSeconds } from '../../../domain/deployments/retry.ts';
import { refusalOf } from './refusal.ts';

describe('the status of a resource', () => {
  test.each<['apply' | 'delete', string[]]>([
    [
      'apply',
      [
        'Pending > Applied',
        'Pending > Failed',
        'Pending > Retrying',
        'Retrying > Applied',
        'Retrying > Failed',
        'Retrying > Retrying',
      ],
    ],
    [
      'delete',
      [
        'Pending > Failed',
        'Pending > Retrying',
        'Pending > Deleted',
        'Retrying > Failed',
        'Retrying > Retrying',
        'Retrying > Deleted',
      ],
    ],
  ])('changes in phase %s as the table says', (phase, expected) => {
    const changes = RSYNC_STATUSES.flatMap((from) =>
      RSYNC_STATUSES.filter((to) => isStatusChange(phase, from, to)).map((to) => `${from} > ${to}`),
    );
    expect(changes).toEqual(expected);
  });

  test.each<[RsyncStatus, boolean, RsyncStatus]>([
    ['Pending', false, 'Deleted'],
    ['Pending', true, 'Pending'],
    ['Applied', true, 'Pending'],
    ['Applied', false, 'Pending'],
    ['Failed', false, 'Deleted'],
    ['Failed', true, 'Pending'],
    ['Retrying', false, 'Deleted'],
    ['Retrying', true, 'Pending'],
    ['Deleted', true, 'Deleted'],
  ])('%s (sent: %s) is %s when deletion begins', (status, wasSent, expected) => {
    expect(statusAtTerminate(status, wasSent)).toBe(expected);
  });

  test('throws for a change that is not in the table', () => {
    expect(() => statusAfter('apply', 'Applied', 'retrying')).toThrow('does not go from Applied to Retrying');
    expect(RSYNC_STATUSES.filter(isDone)).toEqual(['Applied', 'Failed', 'Deleted']);
  });
});

describe('an answer of a cluster', () => {
  const status = (reason: string, message = '', causes: string[] = []) => ({
    kind: 'status' as const,
    reason,
    message,
    causes,
  });
  const typedPatch =
    'failed to create typed patch object (apps/v1, Kind=DaemonSet): .spec.replicas: field not declared in schema';

  test.each<[ClusterCall, number, ClusterAnswer['body'], string]>([
    ['apply', 200, { kind: 'object' }, 'accepted'],
    ['apply', 201, { kind: 'object' }, 'accepted'],
    ['delete', 200, status('', ''), 'accepted'],
    ['delete', 404, status('NotFound'), 'absent'],
    ['read', 404, status('NotFound'), 'absent'],
    ['delete', 404, null, 'refused NotKubernetes'],
    ['apply', 404, status('NotFound'), 'refused NotFound'],
    ['apply', 422, status('Invalid'), 'refused Invalid'],
    ['apply', 400, status('BadRequest'), 'refused BadRequest'],
    ['apply', 403, status('Forbidden'), 'refused Forbidden'],
    ['apply', 403, status('Forbidden', '', ['NamespaceTerminating']), 'being-deleted'],
    ['delete', 403, status('Forbidden', '', ['NamespaceTerminating']), 'refused Forbidden'],
    ['apply', 405, status('MethodNotAllowed'), 'refused MethodNotAllowed'],
    ['apply', 413, status('RequestEntityTooLarge'), 'refused RequestEntityTooLarge'],
    ['apply', 415, status(''), 'refused Status415'],
    ['apply', 409, status('Conflict'), 'refused Conflict'],
    ['delete', 409, status('Conflict'), 'changed'],
    ['apply', 500, status('', typedPatch), 'refused UnknownField'],
    ['apply', 500, status('InternalError'), 'ask-version'],
    ['delete', 500, status('InternalError'), 'ask-version'],
    ['apply', 401, status('Unauthorized'), 'unreachable Unauthorized'],
    ['apply', 429, status('TooManyRequests'), 'unreachable TooManyRequests'],
    ['apply', 502, null, 'unreachable Status502'],
    ['apply', 503, null, 'unreachable Status503'],
    ['apply', 504, null, 'unreachable Status504'],
    ['apply', 302, null, 'refused NotKubernetes'],
    ['apply', 307, { kind: 'object' }, 'refused NotKubernetes'],
    ['apply', 200, null, 'refused NotKubernetes'],
    ['apply', 403, null, 'refused NotKubernetes'],
  ])('%s, %s %j is %s', (call, httpStatus, body, expected) => {
    const found = classOf(call, { httpStatus, body, retryAfter: null }, false);
    expect(`${found.is}${'reason' in found && found.is !== 'ask-version' ? ` ${found.reason}` : ''}`).toBe(expected);
  });

  test('that does not come is unreachable, with why', () => {
    const reset = classOf('apply', { noAnswer: 'connection', message: 'read ECONNRESET' }, false);
    expect(reset).toEqual({ is: 'unreachable', reason: 'Unreachable', message: 'read ECONNRESET', retryAfter: null });
    expect(classOf('read', { noAnswer: 'address', message: '' }, false)).toMatchObject({ reason: 'AddressNotAllowed' });
  });

  test('keeps when to come again, and of a Secret no message', () => {
    const busy = { httpStatus: 429, body: status('TooManyRequests', 'slow down'), retryAfter: 3 };
    expect(classOf('apply', busy, false)).toMatchObject({ retryAfter: 3, message: 'slow down' });
    const quoting = { httpStatus: 422, body: status('Invalid', 'data.password: "hunter2"'), retryAfter: null };
    expect(JSON.stringify(classOf('apply', quoting, true))).not.toContain('hunter2');
    const unknown = { httpStatus: 500, body: status('', `${typedPatch} hunter2`), retryAfter: null };
    expect(classOf('apply', unknown, true)).toEqual({ is: 'refused', reason: 'UnknownField', message: '' });
  });

  test('has a class whatever it is, and text that a terminal can show', () => {
    const body = fc.oneof(
      fc.constant(null),
      fc.constant({ kind: 'object' as const }),
      fc.record({
        kind: fc.constant('status' as const),
        reason: fc.string({ unit: 'binary' }),
        message: fc.string({ unit: 'binary', maxLength: 3_000 }),
        causes: fc.array(fc.string()),
      }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom<ClusterCall>('read', 'apply', 'delete'),
        fc.integer({ min: 100, max: 599 }),
        body,
        (call, httpStatus, said) => {
          const found = classOf(call, { httpStatus, body: said, retryAfter: null }, false);
          if (httpStatus < 200 || (httpStatus >= 300 && httpStatus < 400)) expect(found.is).not.toBe('accepted');
          const text = 'message' in found ? found.message : '';
          expect(text.length).toBeLessThanOrEqual(1024);
          // biome-ignore lint/suspicious/noControlCharactersInRegex: those must not be there
          expect(text).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
        },
      ),
    );
    expect(cleanText(' a\u001b[31mb\n\u202ec ')).toBe('a [31mb c');
  });
});

describe('a live object', () => {
  const live = (label: string | null, isBeingDeleted = false) => ({
    uid: 'u',
    resourceVersion: '7',
    label,
    isBeingDeleted,
  });

  test.each<[Parameters<typeof foundBeforeApply>[0], unknown]>([
    [null, { finding: 'absent' }],
    [live('12-agent'), { finding: 'ours' }],
    [live('12-store'), { finding: 'ours' }],
    [live('13-agent'), { finding: 'taken-over', formerOwner: '13-agent' }],
    [live(null), { finding: 'adopted' }],
    [live('-agent'), { finding: 'adopted' }],
    [live('123-'), { finding: 'adopted' }],
    [live('12-agent', true), 'being-deleted'],
    [live(null, true), 'being-deleted'],
  ])('before an apply: %j is %j', (found, expected) => {
    expect(foundBeforeApply(found, '12')).toEqual(expected);
  });

  const owner = { context: '12', app: 'agent' };
  test.each<[string, Parameters<typeof stepOfDelete>, unknown]>([
    ['absent', [null, owner, 'absent', null], { do: 'nothing', because: 'absent' }],
    ['ours', [live('12-agent'), owner, 'absent', null], { do: 'delete', uid: 'u', resourceVersion: '7' }],
    [
      'taken over from another',
      [live('12-agent'), owner, 'taken-over', null],
      { do: 'delete', uid: 'u', resourceVersion: '7' },
    ],
    ['taken over by another', [live('13-agent'), owner, 'absent', null], { do: 'nothing', because: 'not-owned' }],
    ['made anew by hand', [live(null), owner, 'absent', null], { do: 'nothing', because: 'not-owned' }],
    [
      'adopted',
      [live('12-agent'), owner, 'adopted', null],
      { do: 'release', uid: 'u', resourceVersion: '7', label: null },
    ],
    [
      'shared',
      [live('12-agent'), owner, 'absent', '13-a'],
      { do: 'release', uid: 'u', resourceVersion: '7', label: '13-a' },
    ],
    ['on its way out', [live('12-agent', true), owner, 'absent', null], { do: 'nothing', because: 'being-deleted' }],
  ])('at termination: %s', (_title, given, expected) => {
    expect(stepOfDelete(...given)).toEqual(expected);
  });

  test('is never deleted without our label', () => {
    const anyLive = fc.option(
      fc.record({
        uid: fc.string(),
        resourceVersion: fc.string(),
        label: fc.option(fc.string()),
        isBeingDeleted: fc.boolean(),
      }),
    );
    fc.assert(
      fc.property(anyLive, fc.constantFrom('absent', 'ours', 'taken-over', 'adopted'), (found, finding) => {
        const step = stepOfDelete(found, owner, finding, null);
        if (step.do === 'delete') expect([found?.label, finding === 'adopted']).toEqual(['12-agent', false]);
      }),
    );
  });
});

describe('waiting for a cluster', () => {
  const rule = { firstSeconds: 2, backoff: 1.5, maxSeconds: 60, maxRetries: null };

  test('grows up to the longest wait', () => {
    expect([1, 2, 3, 20].map((n) => waitSeconds(rule, n))).toEqual([2, 3, 4.5, 60]);
    expect(waitSeconds({ ...rule, backoff: 1 }, 50)).toBe(2);
  });

  test('gives up after the (N+1)-th wait, about 8 s for 3 retries of 2 s', () => {
    const limited = { ...rule, backoff: 1, maxRetries: 3 };
    let [waits, seconds] = [0, 0];
    while (!isExhausted(limited, waits)) {
      waits += 1;
      seconds += waitSeconds(limited, waits);
    }
    expect([waits, seconds]).toEqual([4, 8]);
    expect(isExhausted(rule, 1_000_000)).toBe(false);
  });

  test.each([
    ['', null],
    ['-1', null],
    ['three', null],
    ['1.5', null],
    ['0', 0],
    ['3', 3],
  ])('%j retries are %s', (text, expected) => {
    expect(readMaxRetries(text)).toBe(expected);
  });
});

describe('dependencies', () => {
  const waits = (entries: Record<string, string[]>) => new Map(Object.entries(entries));

  test('keep the given order where nothing waits', () => {
    expect(inDependencyOrder(['c', 'a', 'b'], waits({}), 'app')).toEqual(['c', 'a', 'b']);
    expect(inDependencyOrder(['c', 'a', 'b'], waits({ c: ['b'] }), 'app')).toEqual(['a', 'b', 'c']);
    expect([instructionOf([]), instructionOf(['a'])]).toEqual(['go', 'wait on a']);
    expect(namesOf(' a+ConfigMap , b+Secret,,a+ConfigMap')).toEqual(['a+ConfigMap', 'b+Secret']);
  });

  test('name the circle and the stranger', () => {
    const circle = refusalOf(() => inDependencyOrder(['a', 'b', 'c'], waits({ a: ['b'], b: ['c'], c: ['b'] }), 'app'));
    expect(circle).toMatchObject({ code: 'dependency_cycle', detail: 'These wait on each other (app): b -> c -> b' });
    const self = refusalOf(() => inDependencyOrder(['a'], waits({ a: ['a'] }), 'resource'));
    expect(self?.detail).toContain('a -> a');
    const stranger = refusalOf(() => inDependencyOrder(['a'], waits({ a: ['x'] }), 'app'));
    expect(stranger).toMatchObject({ code: 'dependency_cycle', detail: "app 'a' waits on 'x', which is not there" });
  });

  test('put everything behind what it waits for, and reversed before it', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const graph = fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names)), { maxLength: 12 });
    fc.assert(
      fc.property(graph, (pairs) => {
        const given = new Map<string, string[]>();
        for (const [name, other] of pairs) given.set(name, [...(given.get(name) ?? []), other]);
        const isAcyclic = refusalOf(() => inDependencyOrder(names, given, 'app')) === null;
        const turned = reversed(given);
        expect(refusalOf(() => inDependencyOrder(names, turned, 'app')) === null).toBe(isAcyclic);
        if (!isAcyclic) return;
        const ordered = inDependencyOrder(names, given, 'app');
        expect(ordered.toSorted()).toEqual(names);
        ordered.forEach((name, index) => {
          expect(isReady(name, given, new Set(ordered.slice(0, index)))).toBe(true);
          for (const other of turned.get(name) ?? []) expect(ordered.indexOf(other)).toBeGreaterThan(index);
        });
      }),
    );
  });
});
