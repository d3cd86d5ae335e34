import { describe, expect, test } from '@jest/globals';
import { afterFailure } from '../../domain/batches/after-failure.ts';
import { afterSuccess } from '../../domain/batches/after-success.ts';
import { batchKey, desiredText, pendingLayers } from '../../domain/batches/batch-key.ts';
import { commonTags } from '../../domain/batches/common-tags.ts';
import { type Candidate, joinBatches, type UnsentBatch } from '../../domain/batches/join-batches.ts';
import { judgeSession, type SessionFacts, type SessionVerdict } from '../../domain/batches/judge-session.ts';
import type { EndedSession, LayerNow, MemberNow } from '../../domain/batches/member-writes.ts';
import { revalidate } from '../../domain/batches/revalidate.ts';
import type { HostStatus } from '../../domain/runs/schema.ts';

describe('key and desired state', () => {
  test.each([
    [[], ''],
    [['pending'], '0'],
    [['configured', 'pending', 'unconfigured', 'pending', 'failed'], '1,3'],
  ] as const)('pending layers of %j are "%s"', (statuses, expected) => {
    expect(pendingLayers(statuses)).toBe(expected);
  });

  test('the key is configuration, layers and last status', () => {
    expect(batchKey('A', '0,2', 'failed')).toBe('A:0,2:failed');
    expect(batchKey('A', '0', '')).toBe('A:0:');
  });

  test('what is desired changes with commit, playbook and order, not with the URL', () => {
    const [a, b] = [
      { clone_url: 'u', commit: 'a', playbook: 'p' },
      { clone_url: 'u', commit: 'b', playbook: 'p' },
    ];
    const text = desiredText([a, b], 'site.yml');
    expect(desiredText([{ ...a, clone_url: 'v' }, b], 'site.yml')).toBe(text);
    expect(desiredText([{ ...a, playbook: 'q' }, b], 'site.yml')).not.toBe(text);
    expect(desiredText([b, a], 'site.yml')).not.toBe(text);
    expect(desiredText([a], 'site.yml')).not.toBe(text);
    const unnamed = { clone_url: 'u', commit: 'a' };
    expect(desiredText([unnamed], 'p')).toBe(desiredText([a], 'site.yml'));
    expect(desiredText([unnamed], 'q')).not.toBe(desiredText([a], 'site.yml'));
  });

  test.each<[Record<string, string>[], Record<string, string> | undefined]>([
    [[], undefined],
    [[{ a: '1', b: '2' }], { a: '1', b: '2' }],
    [[{ a: '1', b: '2' }, { b: '2' }, { b: '2', c: '' }], { b: '2' }],
    [[{ a: '1' }, { a: '2' }], undefined],
    [[{ toString: 'x' }, {}], undefined],
    [[{ a: '' }, {}], undefined],
    [[{ a: '' }, { a: '' }], { a: '' }],
  ])('tags that %j have in common', (tags, expected) => {
    expect(commonTags(tags)).toEqual(expected);
  });
});

describe('joining batches', () => {
  const candidate = (id: string, configuration = 'A', layers = '0'): Candidate => ({
    id,
    configuration,
    layers,
    key: batchKey(configuration, layers, ''),
  });
  const unsent = (id: string, members: number, openedAt: number): UnsentBatch => ({
    id,
    key: 'A:0:',
    configuration: 'A',
    layers: '0',
    members,
    openedAt,
  });
  const joiner = (batches: UnsentBatch[], size: number, most: number | null = null) => {
    let next = 0;
    return joinBatches(batches, { now: 7, limitsOf: () => ({ size, most }), newId: () => `n${++next}` });
  };

  test('the oldest batch with room takes them, then the next, then a new one', () => {
    const join = joiner([unsent('young', 1, 5), unsent('full', 3, 1), unsent('old', 2, 2)], 3);
    const { opened, joined } = join(['a', 'b', 'c', 'd'].map((id) => candidate(id)));
    expect(joined.map(({ batch }) => batch)).toEqual(['old', 'young', 'young', 'n1']);
    expect(opened).toEqual([{ id: 'n1', key: 'A:0:', configuration: 'A', layers: '0', members: 1, openedAt: 7 }]);
  });

  test('a new batch goes on over pages, and is opened once', () => {
    const join = joiner([], 3);
    expect(join([candidate('a'), candidate('b')]).opened.map(({ members }) => members)).toEqual([2]);
    const second = join([candidate('c'), candidate('d')]);
    expect(second.joined.map(({ batch }) => batch)).toEqual(['n1', 'n2']);
    expect(second.opened.map(({ id }) => id)).toEqual(['n2']);
  });

  test('a batch that is above the size of today takes nobody', () => {
    expect(joiner([unsent('big', 25, 1)], 10)([candidate('a')]).joined).toEqual([{ component: 'a', batch: 'n1' }]);
  });

  test('keys never mix', () => {
    const { joined } = joiner([], 9)([candidate('a'), candidate('b', 'B'), candidate('c', 'A', '1'), candidate('d')]);
    expect(joined.map(({ batch }) => batch)).toEqual(['n1', 'n2', 'n3', 'n1']);
  });

  test('a configuration with a limit collects only so many, over batches and keys; the others are not touched', () => {
    const join = joiner([unsent('old', 2, 2)], 3, 4);
    const page = ['a', 'b', 'c'].map((id) => candidate(id));
    expect(join([candidate('z', 'A', '1'), ...page]).joined).toEqual([
      { component: 'z', batch: 'n1' },
      { component: 'a', batch: 'old' },
    ]);
    expect(join(page)).toEqual({ opened: [], joined: [] });
    expect(joiner([], 0)([candidate('a')])).toEqual({ opened: [], joined: [] });
  });
});

describe('the verdict on a session', () => {
  const facts = (change: Partial<SessionFacts>): SessionFacts => ({
    status: 'pending',
    succeeded: 'none',
    waiting: false,
    fault: null,
    ...change,
  });
  test.each<[string, SessionFacts | null, number, number | null, SessionVerdict]>([
    ['gone', null, 0, null, 'gone'],
    ['pending, exactly as long as the time-out', facts({}), 300_000, null, 'follow'],
    ['pending, longer', facts({}), 300_001, null, 'overdue'],
    ['pending, waits for a slot', facts({ waiting: true }), 9_000_000, null, 'follow'],
    ['pending, waited a while ago', facts({}), 400_000, 100_000, 'follow'],
    ['pending, waited too long ago', facts({}), 400_001, 100_000, 'overdue'],
    ['running, for ever', facts({ status: 'running' }), 9_000_000_000, null, 'follow'],
    ['running and false', facts({ status: 'running', succeeded: 'false' }), 1, null, 'failed'],
    ['running and unknown', facts({ status: 'running', succeeded: 'unknown' }), 1, null, 'failed'],
    ['running and true', facts({ status: 'running', succeeded: 'true' }), 1, null, 'follow'],
    ['pending, late and false', facts({ succeeded: 'false' }), 9_000_000, null, 'failed'],
    ['complete and true', facts({ status: 'complete', succeeded: 'true' }), 1, null, 'succeeded'],
    ['complete and none', facts({ status: 'complete' }), 1, null, 'succeeded'],
    ['complete and false', facts({ status: 'complete', succeeded: 'false' }), 1, null, 'failed'],
    [
      'complete, for a fault of the controller',
      facts({ status: 'complete', succeeded: 'false', fault: 'clone_failed' }),
      1,
      null,
      'controller',
    ],
    ['complete and unknown', facts({ status: 'complete', succeeded: 'unknown' }), 1, null, 'failed'],
  ])('%s', (_, session, now, waitedUntil, verdict) => {
    expect(judgeSession({ sentAt: 0, waitedUntil }, session, now, 300)).toBe(verdict);
  });
});

describe('what the end of a batch writes', () => {
  const layer = (playbook: string, status: LayerNow['status']): LayerNow => ({
    clone_url: 'u',
    playbook,
    commit: 'c',
    status,
  });
  const member = (change: Partial<MemberNow> = {}): MemberNow => ({
    id: 'a',
    status: 'pending',
    layers: [layer('0', 'configured'), layer('1', 'pending'), layer('2', 'pending')],
    last: null,
    desiredChanged: false,
    rebooted: false,
    absent: false,
    ...change,
  });
  const entry = (playbook: string, status: string) => ({
    clone_url: 'u',
    playbook,
    commit: 'c',
    status,
    session_name: 's',
  });
  const session = (change: Partial<EndedSession> = {}): EndedSession => ({
    name: 's',
    layers: '1,2',
    results: new Map(),
    ...change,
  });
  const results = (host: string, layer: number, status: HostStatus) => ({
    results: new Map([[host, [{ layer, status }]]]),
  });
  const skipped = { id: 'a', entries: [entry('1', 'skipped'), entry('2', 'skipped')], errors: 0 };
  const failed = { id: 'a', entries: [entry('1', 'failed')], errors: 1 };

  test.each<[string, Partial<MemberNow>, unknown]>([
    ['pending', {}, skipped],
    ['configured', { status: 'configured' }, null],
    ['failed meanwhile', { status: 'failed' }, null],
    ['desires something else', { desiredChanged: true }, null],
    ['booted meanwhile', { rebooted: true }, null],
    ['was not in the inventory', { absent: true }, failed],
    ['was not in the inventory and booted', { absent: true, rebooted: true }, null],
  ])('success, a member that is: %s', (_, change, expected) => {
    expect(afterSuccess(member(change), session())).toEqual(expected);
  });

  test.each<[string, Partial<EndedSession>, unknown]>([
    ['all layers', { layers: '' }, skipped],
    ['another layer', { layers: '0' }, null],
    ['one of the layers', { layers: '2' }, { ...skipped, entries: [entry('2', 'skipped')] }],
    ['a layer whose number begins alike', { layers: '12' }, null],
    ['a layer that it recorded', results('a', 1, 'applied'), { ...skipped, entries: [entry('2', 'skipped')] }],
    ['a layer that failed all the same', results('a', 2, 'failed'), { ...skipped, entries: [entry('1', 'skipped')] }],
    ['what it recorded of another', results('b', 1, 'applied'), skipped],
  ])('success of a session of %s', (_, change, expected) => {
    expect(afterSuccess(member(), session(change))).toEqual(expected);
  });

  test.each<[string, Partial<EndedSession>, unknown]>([
    ['all layers', { layers: '' }, [failed]],
    ['another layer', { layers: '0' }, []],
    ['the second of them', { layers: '2' }, [{ ...failed, entries: [entry('2', 'failed')] }]],
    ['one that Ansible failed', results('b', 1, 'failed'), []],
    ['one that it recorded as good', results('a', 1, 'applied'), [failed]],
    ['one that was broken off', results('a', 1, 'incomplete'), [failed]],
  ])('failure of a session of %s', (_, change, expected) => {
    expect(afterFailure([member()], session(change))).toEqual(expected);
  });

  test('failure of a broken-off run costs a try whom it left unfinished, not whom no task reached', () => {
    const of = (status: HostStatus) => [{ layer: 1, status, brokeOff: true }];
    const members = ['a', 'b', 'c'].map((id) => member({ id }));
    const failedOf = (...ids: string[]) => ids.map((id) => expect.objectContaining({ id, errors: 1 }));
    const unfinished = new Map([['a', of('incomplete')]]);
    expect(afterFailure(members, session({ results: unfinished, notReached: new Set(['c']) }))).toEqual(
      failedOf('a', 'b'),
    );
    // One failed before the playbook broke off: its error is counted already, the other one would break it off again.
    const mixed = new Map([
      ['a', of('failed')],
      ['b', of('incomplete')],
    ]);
    expect(afterFailure(members, session({ results: mixed, notReached: new Set(['c']) }))).toEqual(failedOf('b'));
    // Where no task reached any member, an end has to come of it all the same.
    const nobody = session({ notReached: new Set(['a', 'b', 'c']) });
    expect(afterFailure(members, nobody)).toEqual(failedOf('a', 'b', 'c'));
  });

  test('failure by Ansible on another: one that the inventory did not have as a host failed too', () => {
    const ended = session(results('b', 1, 'failed'));
    expect(afterFailure([member({ absent: true })], ended)).toEqual([failed]);
    expect(afterFailure([member({ absent: true, rebooted: true })], ended)).toEqual([]);
  });

  test.each<[string, Partial<MemberNow>[], unknown[]]>([
    ['no report', [{}], [failed]],
    ['one is done', [{ id: 'b', status: 'configured' }, {}], [failed]],
    ['one desires something else', [{ desiredChanged: true }], []],
    ['one booted meanwhile', [{ id: 'b', rebooted: true }, {}], [failed]],
    [
      'one booted meanwhile, and its report came then',
      [{}, { id: 'b', rebooted: true, last: { status: 'incomplete', session_name: 's' } }],
      [],
    ],
    ['one was broken off', [{ last: { status: 'incomplete', session_name: 's' } }], [failed]],
    ['Ansible failed on another member', [{}, { id: 'b', last: { status: 'failed', session_name: 's' } }], []],
    ['the last report is of another session', [{ last: { status: 'failed', session_name: 'older' } }], [failed]],
    ['the last report of this session is good', [{ last: { status: 'applied', session_name: 's' } }], [failed]],
    [
      'the reported one has used up its tries',
      [{}, { status: 'failed', last: { status: 'failed', session_name: 's' } }],
      [],
    ],
  ])('failure: %s', (_, members, expected) => {
    expect(afterFailure(members.map(member), session())).toEqual(expected);
  });
});

test('right before sending a batch holds who is enabled, free and pending with the same key', () => {
  const free = { enabled: true, key: 'A:0:', leased: false };
  const members = [
    { id: 'a', ...free },
    { id: 'b', ...free, enabled: false },
    { id: 'c', ...free, key: null },
    { id: 'd', ...free, key: 'A:0:failed' },
    { id: 'e', ...free, leased: true },
    { id: 'f', ...free },
  ];
  expect(revalidate('A:0:', members)).toEqual(['a', 'f']);
  expect(revalidate('A:0:', [])).toEqual([]);
});
