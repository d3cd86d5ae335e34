/** When a process that watches is ready: once its cluster has answered, and each kind was listed or has its reason. */
import { expect, test } from '@jest/globals';
import type { OperatorSite } from '../../../control/operator/operator-site.ts';
import { keepSigns } from '../../../domain/operator/watch-signs.ts';
import type { ClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import type { Db } from '../../../store/connection/database.ts';
import { listWatches } from '../../../store/operator/reads.ts';
import { followObjects } from '../../../worker/operator/follow-objects.ts';
import { eventually } from '../../support/eventually.ts';
import { MACHINE, OPERATOR } from '../hands/fixtures.ts';
import { withOperatorRows } from '../hands/operator-rows.ts';
import { load } from './entries.ts';

let db: Db;
withOperatorRows((opened) => {
  db = opened.db;
});

test('a cluster that has not answered yet leaves it unready, though the reason is known; a kind that is missing does not', async () => {
  const [entry] = load('[{group: demo.io, version: v1, kind: Widget, playbook: pb.yml}]').entries;
  if (entry === undefined) throw new Error('no entry');
  let isAway = true;
  const quiet = { info: () => undefined, warn: () => undefined };
  const followed = followObjects({
    site: {
      ...{ db, operator: OPERATOR, hostId: MACHINE, clock: () => new Date(), log: quiet },
      entries: [{ entry, hash: 'h1' }],
    } as unknown as OperatorSite,
    client: {} as ClusterClient,
    discovery: {
      find: async () => {
        if (isAway) throw new Error('the cluster is away');
        return null;
      },
      forget: () => undefined,
    },
    namespaces: null,
    dependents: { watch: async () => undefined, add: async () => undefined, stop: async () => undefined },
    signs: keepSigns(() => 0),
  });
  const stateIs = async (state: string) => (await listWatches(db, OPERATOR)).every((one) => one.state === state);
  await eventually('the reason is on record', () => stateIs('failing'), 30_000);
  await eventually('it is known here', () => followed.states().get('failing') === 1, 30_000);
  expect(followed.isReady()).toBe(false);
  isAway = false;
  await eventually('it is ready', () => followed.isReady(), 60_000);
  await eventually('the kind is missing', () => stateIs('missing'), 30_000);
  await followed.stop();
  expect(followed.states().size).toBe(0);
});
