/** Deployments to three real API servers while parts of Muster are killed, and while Temporal forgets. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ContextEvent } from '../../domain/deployments/event-schema.ts';
import { eventually } from '../support/eventually.ts';
import { seededRandom } from '../support/seeded-random.ts';
import { config, MEMBERS, type MemberSite, openMemberSite } from './member-site.ts';

const PARTS = ['worker', 'api', 'temporal', 'postgres'] as const;
/** Deployments that are at work when a part is killed. */
const AT_ONCE = 5;
const { next: random } = seededRandom(30);
let site: MemberSite;

beforeAll(async () => {
  site = await openMemberSite({}, 'own');
}, 600_000);
afterAll(() => site?.remove(), 360_000);

const everywhere = {
  all_of: [
    { provider: 'lab', label: 'edge' },
    { provider: 'lab', label: 'far' },
  ],
};
const documentOf = (name: string) => {
  const manifests = Array.from({ length: 4 }, (_, number) => config(`${name}-${number}`)).join('');
  return site.document(name, [{ name: 'agent', manifests, placement: everywhere }]);
};
/** Waits for a state, also while the API does not answer. */
const untilAt = (name: string, state: string) =>
  eventually(
    `${name} is ${state}`,
    async () => (await site.status(name).catch(() => null))?.status === state,
    240_000,
    () => site.resources(name).catch(String),
  );
/** Returns the objects of a namespace in all members: their uids by member and name. */
async function uidsOf(namespace: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const member of MEMBERS) {
    const path = `/api/v1/namespaces/${namespace}/configmaps?labelSelector=emco%2Fdeployment-id`;
    const { body } = await site.members[member].ask('GET', path);
    for (const { metadata } of body.items) found[`${member} ${metadata.name}`] = metadata.uid;
  }
  return found;
}
/** Each change begins where the former one ended, and numbers have no gap. */
function expectForwards(events: readonly ContextEvent[]) {
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1));
  const last = new Map<string, string>();
  for (const event of events) {
    if (event.type !== 'resource') continue;
    const place = `${event.cluster} ${event.resource}`;
    expect([place, event.from]).toEqual([place, last.get(place) ?? 'Pending']);
    if (event.from === 'Applied') expect(['Applied', 'Pending']).toContain(event.status);
    expect(event.from).not.toBe('Deleted');
    last.set(place, event.status);
  }
  expect([...last.values()].filter((status) => status !== 'Deleted')).toEqual([]);
}

test('twenty deployments end, each object is made once, and no status goes backwards, whatever is killed', async () => {
  for (const part of PARTS) {
    const names = Array.from({ length: AT_ONCE }, (_, number) => `${part}-${number}`);
    const documents = await Promise.all(names.map(documentOf));
    for (const member of MEMBERS) site.members[member].changes.splice(0);
    await Promise.all(documents.map((document) => site.apply(document)));
    await rest(random() * 1_500);
    await site.stack.kill(part);
    for (const name of names) await untilAt(name, 'Instantiated');
    const made = await Promise.all(names.map(uidsOf));
    for (const uids of made) expect(Object.keys(uids)).toHaveLength(12);
    const deleted = MEMBERS.flatMap((member) =>
      site.members[member].changes.filter((change) => change.startsWith('DELETE')),
    );
    expect(deleted).toEqual([]);

    await Promise.all(names.map((name) => site.muster(['deployment', 'terminate', name])));
    await rest(random() * 1_000);
    expect((await Promise.all(names.map(uidsOf))).map((uids, at) => isPartOf(uids, made[at]))).toEqual(
      names.map(() => true),
    );
    await site.stack.kill(part);
    for (const name of names) await untilAt(name, 'Terminated');
    for (const member of MEMBERS) expect(await site.labelled(member)).toEqual([]);
    for (const name of names) expectForwards(await site.events(name));
  }
}, 900_000);

function isPartOf(part: Record<string, string>, whole: Record<string, string> = {}): boolean {
  return Object.entries(part).every(([place, uid]) => whole[place] === uid);
}

test('work goes on that was terminated in Temporal, and when Temporal has lost its store', async () => {
  const { south } = site.members;
  const isAway = async () => (await site.status('forgotten').catch(() => null))?.Retrying === 4;
  await south.cut();
  await site.apply(await documentOf('forgotten'));
  await eventually('south is waited for', isAway, 180_000);
  const { instance } = (await site.stack.call('GET', '/api/v1/deployments/forgotten')).body;
  await site.stack.temporal((client) => client.workflow.getHandle(`appcontext/${instance}`).terminate('by hand'));
  await south.mend();
  await untilAt('forgotten', 'Instantiated');

  await south.cut();
  await site.muster(['deployment', 'terminate', 'forgotten']);
  await eventually('south is waited for', isAway, 180_000);
  await site.stack.stop();
  for (const file of ['temporal.db', 'temporal.db-wal', 'temporal.db-shm']) {
    await rm(join(site.stack.dataDir, file), { force: true });
  }
  await site.stack.start();
  await south.mend();
  await untilAt('forgotten', 'Terminated');
  for (const member of MEMBERS) expect(await site.labelled(member)).toEqual([]);
  expectForwards(await site.events('forgotten'));
}, 900_000);
