/** Documents of deployments, while what they stand on is removed. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { openContentSeals } from '../../control/deployments/cluster-seal.ts';
import { removeRecord } from '../../control/deployments/records.ts';
import { removeDeployment } from '../../control/deployments/remove-deployment.ts';
import { applyDeployment, type ShortDependencies } from '../../control/deployments/short-form.ts';
import { shortPlace } from '../../domain/deployments/deployment-name.ts';
import { ShortDeploymentSchema } from '../../domain/deployments/short-schema.ts';
import { packManifests } from '../../drivers/app-archives/pack-manifests.ts';
import { readArchive } from '../../drivers/app-archives/read-archive.ts';
import { eventually } from '../support/eventually.ts';
import { createMemorySecretStore } from '../support/fakes/memory-secret-store.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { documentOf } from './short-fixtures.ts';

const by = { actor: 'token/ops' };
let database: TestDatabase;
let deps: ShortDependencies;

beforeAll(async () => {
  database = await createTestDatabase();
  const { db } = database;
  const seals = openContentSeals(db, createMemorySecretStore());
  deps = { ...{ db, packManifests, readArchive }, ...seals, clock: () => new Date(), tell: async () => undefined };
});
afterAll(() => database.close());

const read = (name: string) => ShortDeploymentSchema.parse(documentOf(name, 'lab', { instantiate: false }));

test('a deployment that is removed at the same moment is made when its document is sent again', async () => {
  const document = read('one');
  await applyDeployment(deps, by, document);
  const { manifestSeal } = deps;
  const whileRead = {
    ...manifestSeal,
    open: async (...sealed: Parameters<typeof manifestSeal.open>) => {
      const content = await manifestSeal.open(...sealed);
      await removeDeployment(deps, by, shortPlace('one'));
      return content;
    },
  };
  await expect(applyDeployment({ ...deps, manifestSeal: whileRead }, by, document)).rejects.toMatchObject({
    code: 'invalid_state',
    detail: expect.stringContaining('send the document again'),
  });
  await expect(applyDeployment(deps, by, document)).resolves.toEqual({ warnings: [] });
});

test('a project that is removed at the same moment is told of', async () => {
  const { db } = database;
  await applyDeployment(deps, by, read('two'));
  for (const name of ['one', 'two']) await removeDeployment(deps, by, shortPlace(name));
  const held = Promise.withResolvers<void>();
  const goesOn = Promise.withResolvers<void>();
  const check = async () => {
    held.resolve();
    await goesOn.promise;
  };
  const removing = removeRecord(deps, 'project', shortPlace('two').project, { check });
  await held.promise;
  const applying = applyDeployment(deps, by, read('two')).catch((error: unknown) => error);
  await eventually('the document waits', async () => {
    const { rows } = await sql`select from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
    return rows.length > 0;
  });
  goesOn.resolve();
  await removing;
  expect(await applying).toMatchObject({ code: 'not_found' });
  await expect(applyDeployment(deps, by, read('two'))).resolves.toEqual({ warnings: [] });
});
