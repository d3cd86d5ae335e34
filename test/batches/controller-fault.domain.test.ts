import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { heldUntil } from '../../domain/batches/back-off.ts';
import { controllerFault, type SessionEndFacts } from '../../domain/batches/controller-fault.ts';
import {
  afterControllerEnds,
  type ControllerFault,
  type ControllerHold,
  FIRST_HOLD,
  holdNow,
  type JudgedEnd,
  LONGEST_HOLD,
} from '../../domain/batches/controller-hold.ts';
import { ERRORS, type ErrorCode } from '../../domain/errors.ts';

/** With these a session ends for what lies outside of its hosts. */
const OF_THE_CONTROLLER: ErrorCode[] = [
  'branch_not_found',
  'branch_not_resolved',
  'clone_failed',
  'cluster_refused',
  'cluster_unavailable',
  'collection_missing',
  'commit_not_found',
  'config_missing',
  'container_config_invalid',
  'credentials_withheld',
  'disk_low',
  'engine_unavailable',
  'evaluator_failed',
  'evaluator_unavailable',
  'evicted',
  'image_builder_unavailable',
  'image_disk_full',
  'image_environment_failed',
  'image_job_failed',
  'image_pack_failed',
  'image_port_taken',
  'image_pull_failed',
  'image_service_refused',
  'image_service_unavailable',
  'image_step_killed',
  'image_unknown',
  'image_wait_timeout',
  'internal',
  'inventory_failed',
  'inventory_invalid',
  'lfs_object_missing',
  'lfs_unavailable',
  'no_layer_selected',
  'node_lost',
  'payload_refused',
  'playbook_missing',
  'pod_silent',
  'repository_auth_failed',
  'repository_not_found',
  'repository_unsafe',
  'repository_untrusted',
  'repository_url_refused',
  'run_not_started',
  'runner_failed',
  'runner_gone',
  'runner_unavailable',
  'secret_store_unavailable',
  'secret_unreadable',
  'source_unknown',
  'storage_unavailable',
  'submodule_unknown',
  'sync_timeout',
  'tenant_registry_unavailable',
  'trust_not_ready',
  'trust_unavailable',
  'unschedulable',
  'workspace_gone',
];
/** With these too, but a host, its playbook or a person may be the cause. */
const OF_OTHERS: (ErrorCode | 'layer_failed' | 'no_host_ran' | null)[] = [
  null,
  'cancelled',
  'deadline_exceeded',
  'inventory_empty',
  'job_deleted',
  'job_lost',
  'layer_failed',
  'no_host_ran',
  'out_of_memory',
  'pod_deleted',
  'run_lost',
  'session_timeout',
  'workflow_ended',
];

const end = (change: Partial<SessionEndFacts>): SessionEndFacts => ({
  status: 'complete',
  succeeded: 'false',
  reason: 'clone_failed',
  cancelRequested: false,
  ...change,
});

describe('a fault of the controller', () => {
  test.each(OF_THE_CONTROLLER)('%s', (reason) => {
    expect(controllerFault(end({ reason }))).toBe(reason);
  });

  test.each(OF_OTHERS)('not %s', (reason) => {
    expect(controllerFault(end({ reason }))).toBeNull();
  });

  test('the catalogue names a code that a test here names, and none beside them', () => {
    const named = (Object.keys(ERRORS) as ErrorCode[]).filter((code) => ERRORS[code].controller).sort();
    expect(named).toEqual(OF_THE_CONTROLLER);
  });

  test.each<[string, Partial<SessionEndFacts>]>([
    ['while it is at work and says that it tries again', { status: 'running', succeeded: 'none' }],
    ['that somebody marked failed while it was at work', { status: 'running' }],
    ['that somebody completed or cancelled', { cancelRequested: true }],
    ['of which nobody knows how its playbooks ended', { succeeded: 'unknown', reason: 'runner_gone' }],
    ['that succeeded after it had tried again', { succeeded: 'true' }],
    ['that ended with a code of a later release', { reason: 'repository_on_fire' as ErrorCode }],
  ])('not of a session %s', (_, change) => {
    expect(controllerFault(end(change))).toBeNull();
  });
});

const FAULT: ControllerFault = { code: 'clone_failed', reason: 'clone failed: away', session: 's', basis: 'b1' };
const fault = (batch: string, change: Partial<ControllerFault> = {}): JudgedEnd => ({
  batch,
  success: false,
  verdict: 'controller',
  fault: { ...FAULT, ...change },
});
const other = (batch: string, verdict: JudgedEnd['verdict']): JudgedEnd => ({
  batch,
  success: verdict === 'succeeded',
  verdict,
  fault: null,
});
const held = (change: Partial<ControllerHold> = {}): ControllerHold => ({
  ...FAULT,
  length: FIRST_HOLD,
  start: 0,
  probe: 'p',
  since: 0,
  ...change,
});

describe('the hold of a key', () => {
  test('begins with the first fault, and the other sessions of that time do not lengthen it', () => {
    const first = afterControllerEnds(undefined, [fault('a'), fault('b')], 1_000);
    expect(first).toEqual({ ...FAULT, length: FIRST_HOLD, start: 1_000, probe: null, since: 1_000 });
    expect(afterControllerEnds(first, [fault('c')], 2_000)).toMatchObject({ length: FIRST_HOLD, start: 1_000 });
  });

  test('doubles with each try that ends for a fault, up to a few minutes, and says the latest reason', () => {
    const lengths = [];
    let hold = held();
    for (let n = 1; n <= 6; n += 1) {
      const next = afterControllerEnds(hold, [fault('p', { reason: `reason ${n}` })], n * 1_000_000);
      if (next === undefined) throw new Error('it is not held any more');
      lengths.push(next.length);
      expect(next).toMatchObject({ start: n * 1_000_000, reason: `reason ${n}`, probe: null, since: 0 });
      hold = { ...next, probe: 'p' };
    }
    expect(lengths).toEqual([60, 120, 240, LONGEST_HOLD, LONGEST_HOLD, LONGEST_HOLD]);
  });

  test('begins with the first pause again when something had changed before the try', () => {
    expect(afterControllerEnds(held({ length: 160 }), [fault('p', { basis: 'b2' })], 9_000)).toEqual({
      ...held({ basis: 'b2', start: 9_000, probe: null }),
    });
  });

  test.each<[string, JudgedEnd, boolean]>([
    ['succeeded', other('p', 'succeeded'), false],
    ['failed by its hosts', other('p', 'failed'), false],
    ['was deleted', other('p', 'gone'), true],
    ['never began', other('p', 'overdue'), true],
    ['was ended by an older release', other('p', null), true],
  ])('after a try that %s', (_, one, stays) => {
    expect(afterControllerEnds(held(), [one], 9_000)).toEqual(stays ? held() : undefined);
  });

  test('a session that worked ends it, whatever else ended in the pass', () => {
    expect(afterControllerEnds(held(), [other('a', 'succeeded'), fault('p')], 9_000)).toBeUndefined();
  });

  test('is over at once when its basis is another one', () => {
    expect(heldUntil(holdNow(held({ start: 5_000 }), 'b1'))).toBe(5_000 + FIRST_HOLD * 1_000);
    expect(heldUntil(holdNow(held({ start: 5_000 }), 'b2'))).toBeLessThan(FIRST_HOLD * 1_000 + 1);
  });

  test('never lasts longer than the longest pause after the last try, whatever ends', () => {
    const anEnd = fc.oneof(
      fc.constantFrom('a', 'p').map((id) => fault(id)),
      fc.constantFrom('gone', 'overdue', null).map((verdict) => other('p', verdict as JudgedEnd['verdict'])),
    );
    fc.assert(
      fc.property(fc.array(fc.array(anEnd, { maxLength: 4 }), { maxLength: 20 }), (passes) => {
        let hold: ControllerHold | undefined;
        passes.forEach((ends, n) => {
          hold = afterControllerEnds(hold, ends, n * 30_000);
          if (hold === undefined) return;
          expect(hold.length).toBeGreaterThanOrEqual(FIRST_HOLD);
          expect(heldUntil(hold)).toBeLessThanOrEqual(n * 30_000 + LONGEST_HOLD * 1_000);
          hold = { ...hold, probe: n % 2 === 0 ? 'p' : hold.probe };
        });
      }),
    );
  });
});
