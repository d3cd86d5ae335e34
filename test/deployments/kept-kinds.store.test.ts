/** Work on clusters whose kinds were learned by other work, and are served otherwise since then. */
import { expect, test } from '@jest/globals';
import type { ClusterAnswer } from '../../domain/deployments/answer-class.ts';
import type { ServedKind } from '../../domain/deployments/object-path.ts';
import type { MemberClusters } from '../../domain/deployments/ports.ts';
import { contextBenchOfBlock } from './context-bench.ts';
import { refusal } from './fake-member.ts';

const THING = `
apiVersion: example.com/v1
kind: Thing
metadata: {name: one}
`;
const DEFINITION = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec: {group: example.com}
`;
const NAMESPACED = '/apis/example.com/v1/namespaces/default/things/one';
const OF_CLUSTER = '/apis/example.com/v1/things/one';
const bench = contextBenchOfBlock('k');
const { post, instantiated, round, status, reasons } = bench;

interface Learned {
  /** What other work has learned of Things; null: nothing. */
  kept: ServedKind | null;
  /** How they are served now; null: not at all. */
  now: ServedKind | null;
  /** Questions for Things that what is kept does not answer. */
  anew: number;
}

/** What an API server says of a path that it does not serve. */
const NO_PATH: ClusterAnswer = { httpStatus: 404, retryAfter: null, body: null };

/** Has the cluster serve Things as told, and answer as told where an object is elsewhere. */
function serving(first: Pick<Learned, 'kept' | 'now'>, elsewhere = NO_PATH): Learned {
  const learned: Learned = { ...first, anew: 0 };
  const { member } = bench;
  const openMember: MemberClusters['openMember'] = (credential) => {
    const opened = member.openMember(credential);
    return {
      ...opened,
      findKind: async (identity, how) => {
        const known = await opened.findKind(identity, how);
        if (identity.kind !== 'Thing') return known;
        if (how?.isAnew !== true && learned.kept !== null) return { ...known, found: learned.kept };
        learned.anew += 1;
        learned.kept = learned.now;
        return learned.now === null
          ? { answer: refusal(404, 'NotFound'), found: null }
          : { ...known, found: learned.now };
      },
    };
  };
  bench.deps = { ...bench.deps, memberClusters: { ...member, openMember } };
  member.fault = (_call, path) => {
    if (!path.startsWith('/apis/example.com/')) return undefined;
    const served = learned.now === null ? null : learned.now.isNamespaced ? NAMESPACED : OF_CLUSTER;
    return path === served ? undefined : elsewhere;
  };
  return learned;
}

/** What is told of the Thing. */
async function told(context: string) {
  const { db } = bench.api.database;
  const rows = db.selectFrom('context_resources').select(['reason', 'message', 'call_until', 'stray_until']);
  return await rows.where('context', '=', context).executeTakeFirst();
}

const namespaced: ServedKind = { plural: 'things', isNamespaced: true };
const ofCluster: ServedKind = { plural: 'things', isNamespaced: false };

test('what is kept is enough where it still holds', async () => {
  const run = await instantiated({ apps: { store: THING } });
  const learned = serving({ kept: namespaced, now: namespaced });
  await round(run);
  expect([await status(run), learned.anew]).toEqual([{ status: 'Instantiated', Applied: 1 }, 0]);
  await post(`${run.group}/terminate`);
  await round(run);
  expect([await status(run), learned.anew]).toEqual([{ status: 'Terminated', Deleted: 1 }, 0]);
});

const WRONG: [string, ClusterAnswer][] = [
  ['in plain text', NO_PATH],
  ['as a Status', refusal(404, 'NotFound')],
  ['as not allowed', refusal(403, 'Forbidden')],
];
test.each(WRONG)(
  'a kind that is served elsewhere since then is applied and deleted there, told %s',
  async (_, wrong) => {
    const run = await instantiated({ apps: { store: THING } });
    const learned = serving({ kept: namespaced, now: ofCluster }, wrong);
    await round(run);
    expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 1 });
    expect([...bench.member.objects.keys()]).toEqual([OF_CLUSTER]);
    const { db } = bench.api.database;
    const sent = db.selectFrom('context_resources').select(['sent_namespace', 'call_until', 'stray_until']);
    expect(await sent.where('context', '=', run.id).execute()).toEqual([
      { sent_namespace: '', call_until: null, stray_until: null },
    ]);
    await post(`${run.group}/terminate`);
    learned.kept = namespaced;
    await round(run);
    expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 1 });
    expect([...bench.member.objects.keys()]).toEqual([]);
  },
);

test.each(WRONG)('a kind that is not served any more is refused as one that never was, told %s', async (_, wrong) => {
  const run = await instantiated({ apps: { store: THING } });
  serving({ kept: namespaced, now: null }, wrong);
  await round(run);
  expect(await status(run)).toEqual({ status: 'InstantiateFailed', Failed: 1 });
  expect(await reasons(run)).toEqual({ 'one+Thing': 'Failed NotFound' });
});

test.each(WRONG)('a kind that is not served any more has nothing to delete, told %s', async (_, wrong) => {
  const run = await instantiated({ apps: { store: THING } });
  const learned = serving({ kept: namespaced, now: namespaced }, wrong);
  await round(run);
  await post(`${run.group}/terminate`);
  learned.now = null;
  await round(run);
  expect(await status(run)).toEqual({ status: 'Terminated', Deleted: 1 });
});

test('what is refused where the kind still is is told as it was refused', async () => {
  const run = await instantiated({ apps: { store: THING } });
  const learned = serving({ kept: namespaced, now: namespaced });
  const { fault } = bench.member;
  bench.member.fault = (call, path) => (path === NAMESPACED ? refusal(403, 'Forbidden') : fault(call, path));
  await round(run);
  expect(await told(run.id)).toMatchObject({ reason: 'Forbidden', message: 'it is Forbidden', call_until: null });
  expect(learned.anew).toBe(1);
});

test('an apply that is refused where the kind still is is told as it was refused', async () => {
  const run = await instantiated({ apps: { store: THING } });
  serving({ kept: namespaced, now: namespaced });
  const { fault } = bench.member;
  bench.member.fault = (call, path) => (call === 'apply' ? refusal(403, 'Forbidden') : fault(call, path));
  await round(run);
  expect(await told(run.id)).toEqual({
    ...{ reason: 'Forbidden', message: 'it is Forbidden', call_until: null, stray_until: null },
  });
});

test('an object that may not be read for its deletion is told as it was refused', async () => {
  const run = await instantiated({ apps: { store: THING } });
  serving({ kept: namespaced, now: namespaced });
  await round(run);
  await post(`${run.group}/terminate`);
  bench.member.fault = (_call, path) => (path === NAMESPACED ? refusal(403, 'Forbidden') : undefined);
  await round(run);
  expect(await status(run)).toEqual({ status: 'TerminateFailed', Failed: 1 });
  expect(await told(run.id)).toMatchObject({ reason: 'Forbidden', message: 'it is Forbidden' });
});

test.each(WRONG)('a kind that is somewhere else at each look is given up, told %s', async (_, wrong) => {
  const run = await instantiated({ apps: { store: THING } });
  const learned = serving({ kept: namespaced, now: ofCluster }, wrong);
  const { fault } = bench.member;
  bench.member.fault = (call, path) => {
    if (!path.startsWith('/apis/example.com/')) return fault(call, path);
    learned.now = learned.kept?.isNamespaced === true ? ofCluster : namespaced;
    return wrong;
  };
  await round(run);
  expect(await status(run)).toEqual({ status: 'InstantiateFailed', Failed: 1 });
  await post(`${run.group}/terminate`);
  await round(run);
  expect((await status(run)).status).toMatch(/^Terminate/);
});

test('a kind that the app defines again is asked for anew, and waited for', async () => {
  const run = await instantiated({ apps: { store: `${DEFINITION}---${THING}` } });
  const learned = serving({ kept: namespaced, now: null });
  expect(await round(run)).toMatchObject([{ is: 'away', reason: 'Waiting' }]);
  expect(await reasons(run)).toMatchObject({ 'one+Thing': 'Pending Waiting' });
  expect(bench.member.calls.filter((call) => call.includes('example.com/v1'))).toEqual([]);
  learned.kept = namespaced;
  learned.now = ofCluster;
  bench.later(1);
  await round(run);
  expect(await status(run)).toEqual({ status: 'Instantiated', Applied: 2 });
});
