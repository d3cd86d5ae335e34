import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SESSION_STATUSES, SUCCEEDED } from '../../../domain/sessions/schema.ts';
import { applyStatusPatch, type PatchableStatus, readStatusPatch } from '../../../domain/sessions/status-patch.ts';

const current: PatchableStatus = {
  status: 'running',
  succeeded: 'none',
  job: null,
  ims_job: null,
  start_time: new Date('2026-11-21T10:00:00Z'),
  completion_time: null,
  artifacts: [],
};
const patch = (session: unknown, from: Partial<PatchableStatus> = {}) =>
  applyStatusPatch({ ...current, ...from }, { session });

describe('what may be patched', () => {
  test('nothing, and a status', () => {
    expect(readStatusPatch({})).toEqual({});
    expect(readStatusPatch({ status: { session: {} } })).toEqual({ session: {} });
  });
  test.each([[undefined], [null], [[]], ['x'], [1], [{ name: 'x' }], [{ status: {}, tags: {} }]])('not %j', (body) => {
    expect(() => readStatusPatch(body)).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });
  test.each([[null], [[]], ['complete'], [1], [true]])('no status %j', (status) => {
    expect(() => readStatusPatch({ status })).toThrow(
      expect.objectContaining({ code: 'bad_request', field: 'status' }),
    );
  });
});

describe('status and succeeded', () => {
  test('move forward', () => {
    expect(patch({ status: 'complete', succeeded: 'false' })).toMatchObject({ status: 'complete', succeeded: 'false' });
    expect(patch({ succeeded: 'true' }, { succeeded: 'false' }).succeeded).toBe('true');
    expect(patch({ succeeded: 'unknown' }).succeeded).toBe('unknown');
  });
  test.each([['pending'], ['PENDING'], ['done'], [''], [null], [true], [3], [{}], [['complete']]])(
    '%j changes nothing',
    (value) => expect(patch({ status: value, succeeded: value })).toEqual(current),
  );
  test('never move backward, whatever comes in which order', () => {
    const step = fc.record(
      { status: fc.constantFrom(...SESSION_STATUSES, 'x', ''), succeeded: fc.constantFrom(...SUCCEEDED, 'x', null) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        let state = { ...current, status: SESSION_STATUSES[0] as PatchableStatus['status'] };
        for (const session of steps) {
          const next = applyStatusPatch(state, { session });
          expect(SESSION_STATUSES.indexOf(next.status)).toBeGreaterThanOrEqual(SESSION_STATUSES.indexOf(state.status));
          expect(SUCCEEDED.indexOf(next.succeeded)).toBeGreaterThanOrEqual(SUCCEEDED.indexOf(state.succeeded));
          state = next;
        }
      }),
    );
  });
});

describe('job', () => {
  test('is set once', () => {
    expect(patch({ job: 'cfs-1' }).job).toBe('cfs-1');
    expect(patch({ job: '' }, { job: 'cfs-1' }).job).toBe('cfs-1');
    expect(patch({ job: null }, { job: 'cfs-1' }).job).toBe('cfs-1');
  });
  test.each(['cfs-2', 'cfs-1'])('%s on a session that has one is a conflict that names both', (job) => {
    expect(() => patch({ job, status: 'complete' }, { job: 'cfs-1' })).toThrow(
      expect.objectContaining({ code: 'session_job_conflict', message: expect.stringMatching(/cfs-1.*cfs-[12]/) }),
    );
  });
});

describe('job where it may be overwritten (v2)', () => {
  const overwrite = (session: unknown) =>
    applyStatusPatch({ ...current, job: 'cfs-1' }, { session }, { overwriteJob: true });
  test('is replaced, with the rest of the patch', () => {
    expect(overwrite({ job: 'cfs-2', status: 'complete' })).toMatchObject({ job: 'cfs-2', status: 'complete' });
    expect(overwrite({ job: 'cfs-1' }).job).toBe('cfs-1');
  });
  test.each([[''], [null], [false], [[]]])('stays when %j comes', (job) =>
    expect(overwrite({ job }).job).toBe('cfs-1'),
  );
  test('is text, too', () => expect(() => overwrite({ job: 5 })).toThrow('must be a string'));
});

describe('other members', () => {
  test('overwrite, unless empty', () => {
    const next = patch({ ims_job: 'i', start_time: '2026-01-01T00:00:00', completion_time: '2026-01-02T00:00:00' });
    expect(next.ims_job).toBe('i');
    expect(next.start_time.toISOString()).toBe('2026-01-01T00:00:00.000Z');
    expect(next.completion_time?.toISOString()).toBe('2026-01-02T00:00:00.000Z');
    expect(patch({ ims_job: false, completion_time: '', start_time: null })).toEqual(current);
  });
  test('that nobody knows are ignored', () => {
    expect(patch({ message: 'x', phase: 'x', completionTime: 'x' })).toEqual(current);
    expect(patch(null)).toEqual(current);
  });
  test.each([
    [{ job: 5 }, 'status.session.job'],
    [{ ims_job: ['x'] }, 'status.session.ims_job'],
    [{ completion_time: 'soon' }, 'status.session.completion_time'],
    [{ start_time: { a: 1 } }, 'status.session.start_time'],
    ['text', 'status.session'],
    [[1], 'status.session'],
  ])('of a wrong type are refused: %j', (session, field) => {
    expect(() => patch(session)).toThrow(expect.objectContaining({ code: 'bad_request', field }));
  });
});

describe('artifacts', () => {
  const one = { image_id: 'a', result_id: 'b', type: 'ims_customized_image' };
  const add = (artifacts: unknown, existing: Record<string, unknown>[] = [one]) =>
    applyStatusPatch({ ...current, artifacts: existing }, { artifacts }).artifacts;
  test('are appended', () => expect(add([{ image_id: 'c' }])).toEqual([one, { image_id: 'c' }]));
  test('equal ones are left out', () => expect(add([{ ...one }])).toEqual([one]));
  test('ones of which an entry has every member are left out', () => expect(add([{ image_id: 'a' }])).toEqual([one]));
  test('ones with a further member are appended', () => expect(add([{ ...one, x: 1 }])).toHaveLength(2));
  test('equal ones within one patch are kept once', () => expect(add([{ x: 1 }, { x: 1 }], [])).toEqual([{ x: 1 }]));
  test('are compared in depth', () => {
    const deep = { x: [{ y: { z: 1 } }] };
    expect(add([{ x: [{ y: { z: 1 } }] }], [deep])).toEqual([deep]);
    expect(add([{ x: [{ y: { z: 2 } }] }], [deep])).toHaveLength(2);
  });
  test.each([[null], [[]], [{}], [false]])('%j adds nothing', (artifacts) => expect(add(artifacts)).toEqual([one]));
  test.each([['x'], [{ a: 1 }], [[1]], [[null]], [[[1]]]])('%j is refused', (artifacts) =>
    expect(() => add(artifacts)).toThrow(expect.objectContaining({ code: 'bad_request' })),
  );
  test('nested without end are refused', () => {
    let deep: unknown = {};
    for (let level = 0; level < 50_000; level++) deep = { deep };
    expect(() => add([{ deep }])).toThrow(expect.objectContaining({ code: 'bad_request' }));
  });
});
