/** A document of a deployment that is removed at the same moment. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openContentSeals } from '../../control/deployments/cluster-seal.ts';
import { removeDeployment } from '../../control/deployments/remove-deployment.ts';
import { applyDeployment, type ShortDependencies } from '../../control/deployments/short-form.ts';
import { shortPlace } from '../../domain/deployments/deployment-name.ts';
import { ShortDeploymentSchema } from '../../domain/deployments/short-schema.ts';
import { packManifests } from '../../drivers/app-archives/pack-manifests.ts';
import { readArchive } from '../../drivers/app-archives/read-archive.ts';
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

test('is told so, and makes the deployment when it is sent again', async () => {
  const document = ShortDeploymentSchema.parse(documentOf('one', 'lab', { instantiate: false }));
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
