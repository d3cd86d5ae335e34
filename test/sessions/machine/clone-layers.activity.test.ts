import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type CloneDependencies, cloneLayers } from '../../../activities/sessions/machine/clone-layers.ts';
import { musterError } from '../../../domain/errors.ts';
import { createWorkspaces } from '../../../drivers/local-runner/workspaces.ts';
import { SITE, TRUST } from '../../support/kubernetes/site-stand-ins.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { COMMIT, makeSession, sessionNow, snapshotLayer } from '../../support/temporal/engine-sessions.ts';

let database: TestDatabase;
let dir: string;
beforeAll(async () => {
  database = await createTestDatabase();
  dir = await mkdtemp(join(tmpdir(), 'muster-clone-layers-'));
});
afterAll(async () => {
  await rm(dir, { recursive: true, force: true });
  await database.close();
});

const dependencies = (clone: CloneDependencies['clones']['clone']): CloneDependencies => ({
  db: database.db,
  clock: () => new Date(),
  clones: { clone },
  workspaces: createWorkspaces({ dir: join(dir, 'workspaces'), shortDir: dir }),
  site: SITE,
  trust: TRUST,
});

const twoLayers = (commit: string | null) =>
  makeSession(database.db, {
    snapshot: {
      layers: [snapshotLayer(0, { commit, playbook: 'a.yml' }), snapshotLayer(3, { commit, playbook: 'b.yml' })],
      additional_inventory: null,
      debug_playbook: null,
      ansible_config: 'site',
    },
  });

test('layers without a commit are pinned to what was found', async () => {
  const { id } = await twoLayers(null);
  const second = Promise.withResolvers<void>();
  const deps = dependencies(async ({ dest }) => {
    await mkdir(dest);
    // The second one is there first.
    if (dest.endsWith('layer3')) second.resolve();
    await second.promise;
    if (dest.endsWith('layer0')) await setImmediate();
    return { commit: COMMIT, warnings: ['a link was left out'] };
  });
  await cloneLayers(deps, await sessionNow(database.db, id), new AbortController().signal);
  const { snapshot } = await sessionNow(database.db, id);
  expect(snapshot.layers.map(({ index, commit }) => [index, commit])).toEqual([
    [0, COMMIT],
    [3, COMMIT],
  ]);
  expect(existsSync(deps.workspaces.layerDir(id, 3))).toBe(true);
  const events = await database.db
    .selectFrom('events')
    .select('data')
    .where('stream_id', '=', id)
    .orderBy('seq')
    .execute();
  expect(events.map(({ data }) => data.message)).toEqual([
    'layer 1: a link was left out',
    'layer 4: a link was left out',
  ]);
});

test('of two tries that overlap and find different commits one counts, and the other begins anew', async () => {
  const { id } = await twoLayers(null);
  const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const late = cloneLayers(
    dependencies(async () => {
      begun.resolve();
      await goOn.promise;
      return { commit: 'c'.repeat(40), warnings: [] };
    }),
    await sessionNow(database.db, id),
    new AbortController().signal,
  );
  late.catch(() => undefined);
  await begun.promise;
  // A worker that was cut off goes on with its try; the branch moved before the next one.
  await cloneLayers(
    dependencies(async () => ({ commit: COMMIT, warnings: [] })),
    await sessionNow(database.db, id),
    new AbortController().signal,
  );
  goOn.resolve();
  await expect(late).rejects.toMatchObject({ code: 'changed_meanwhile' });
  const { snapshot } = await sessionNow(database.db, id);
  expect(snapshot.layers.map(({ commit }) => commit)).toEqual([COMMIT, COMMIT]);
});

test('when one repository fails the others stop, and nothing is left of the workspace', async () => {
  const { id } = await twoLayers(COMMIT);
  let stopped = false;
  const deps = dependencies(({ dest, signal }) =>
    dest.endsWith('layer0')
      ? Promise.reject(musterError('repository_not_found', 'there is no such repository'))
      : new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => {
            stopped = true;
            reject(signal.reason);
          });
        }),
  );
  await expect(
    cloneLayers(deps, await sessionNow(database.db, id), new AbortController().signal),
  ).rejects.toMatchObject({
    code: 'repository_not_found',
    detail: 'layer 1: there is no such repository',
  });
  expect(stopped).toBe(true);
  expect(existsSync(deps.workspaces.paths(id).dir)).toBe(false);
});
