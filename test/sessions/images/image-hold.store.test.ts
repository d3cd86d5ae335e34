/** A layer that is run again in place, for what failed: on images that includes those that it never came to. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type LayerDependencies,
  type LayerPlace,
  layerCommand,
} from '../../../activities/sessions/machine/layer-command.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { makeSession, snapshotLayer } from '../../support/temporal/engine-sessions.ts';
import { addRun } from '../session-fixtures.ts';

const DONE = '5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11';
const BAD = '6f1d3c5f-2f0a-4d57-9f3e-0f6a3c6f0d22';
const NEXT = '7a2e4d60-2f0a-4d57-9f3e-0f6a3c6f0d33';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const site = { ansibleConfig: async () => '' };
const place = { base: {}, limit: '/limit', araCredentials: undefined, paths: {} } as unknown as LayerPlace;

/** The limit of layer 1, run again for what failed in it: on one image, and before it came to the next one. */
async function limitAfter(ansibleLimit: string, definition: 'image' | 'spec' = 'image') {
  const { db } = database;
  const groups = [
    { name: 'web', members: [DONE, BAD] },
    { name: 'db', members: [NEXT] },
  ];
  const session = await makeSession(db, {
    ansibleLimit,
    target: { definition, groups, image_map: null },
    snapshot: {
      layers: [snapshotLayer(0), snapshotLayer(1)],
      additional_inventory: null,
      debug_playbook: null,
      ansible_config: 'c',
    },
  });
  const applied = (...hosts: string[]) => hosts.map((host) => ({ host, status: 'applied' as const }));
  const within = ansibleLimit === 'web' ? [DONE, BAD] : [DONE, BAD, NEXT];
  await addRun(db, session.id, { layer: 0, exitCode: 0, results: applied(...within) });
  const results = [...applied(DONE), { host: BAD, status: 'failed' as const }];
  await addRun(db, session.id, { layer: 1, exitCode: 2, results });
  const run = { sessionId: session.id, layer: 1, attempt: 2, hosts: 'failed' as const };
  const deps = { db, site, trust: { hasOwnKey: true } } as unknown as LayerDependencies;
  return (await layerCommand(deps, session, run, place)).words.find((word) => word.startsWith('--limit='));
}

test.each([
  ['no limit', '', `${BAD},${NEXT}`],
  ['a limit with it', 'web,db', `${BAD},${NEXT}`],
  ['a pattern that has let an earlier layer come to it', 'all:!x', `${BAD},${NEXT}`],
  ['a limit without it', 'web', BAD],
])('%s', async (_, limit, expected) => {
  expect(await limitAfter(limit)).toBe(`--limit=${expected}`);
});

test('hosts that are no images are those that failed', async () => {
  expect(await limitAfter('', 'spec')).toBe(`--limit=${BAD}`);
});

test.each([
  ['came to no host', [], [BAD]],
  ['came to some of them only', [{ host: BAD, status: 'failed' as const }], [BAD, NEXT]],
  ['has reached one of them', [{ host: BAD, status: 'applied' as const }], [NEXT]],
])('an attempt that %s leaves the others to the next one', async (_, results, expected) => {
  const { db } = database;
  const session = await makeSession(db, { ansibleLimit: '' });
  const failed = expected.includes(NEXT) ? [BAD, NEXT] : [BAD];
  const first = [
    { host: DONE, status: 'applied' as const },
    ...failed.map((host) => ({ host, status: 'failed' as const })),
  ];
  await addRun(db, session.id, { layer: 0, exitCode: 2, results: first });
  await addRun(db, session.id, { layer: 0, attempt: 2, exitCode: 4, results });
  const run = { sessionId: session.id, layer: 0, attempt: 3, hosts: 'failed' as const };
  const deps = { db, site, trust: { hasOwnKey: true } } as unknown as LayerDependencies;
  expect((await layerCommand(deps, session, run, place)).words).toContain(`--limit=${expected}`);
});
