/** Repositories of definitions that are read from real git repositories into a database of their own. */
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { syncRepository } from '../../../activities/propagation/sync-repository.ts';
import { createSource } from '../../../control/configurations/create-source.ts';
import { createSiteValues } from '../../../control/configurations/site-values.ts';
import { addRepository, type NewRepository } from '../../../control/propagation/create-repository.ts';
import { getRepository } from '../../../control/propagation/read-definitions.ts';
import { failSync, requestSync } from '../../../control/propagation/sync-repository.ts';
import type { WantedWorkflow } from '../../../control/temporal/tell.ts';
import { isMusterError } from '../../../domain/errors.ts';
import { createGit } from '../../../drivers/git/create-git.ts';
import { createDefinitionCheckouts } from '../../../drivers/propagation-content/definition-checkouts.ts';
import { readYaml } from '../../../drivers/propagation-content/read-yaml.ts';
import { openConfigMaps } from '../../../drivers/secrets/config-maps.ts';
import { openSecretCipher } from '../../../drivers/secrets/secret-cipher.ts';
import { openSshFiles } from '../../../drivers/secrets/ssh-files.ts';
import { createSecretStore } from '../../../store/secrets/secrets.ts';
import { createRepository } from '../../support/git/git-repository.ts';
import { createTestDatabase } from '../../support/postgres/test-database.ts';

const SCHEMES = ['https', 'http', 'ssh', 'file'];

export type GitBench = Awaited<ReturnType<typeof openGitBench>>;

export async function openGitBench() {
  const root = await mkdtemp(join(tmpdir(), 'muster-definitions-git-'));
  const tempDir = join(root, 'tmp');
  await mkdir(tempDir);
  const database = await createTestDatabase();
  const { db } = database;
  const clock = () => new Date();
  const secrets = createSecretStore(db, openSecretCipher(join(root, 'secret.key')), clock);
  const configMaps = openConfigMaps(join(root, 'maps'));
  const told: WantedWorkflow[] = [];
  const deps = {
    ...{ db, clock, readYaml, actor: 'ann' as string | null, repositorySchemes: SCHEMES },
    log: { info: () => undefined, warn: () => undefined },
    tell: async (wanted: readonly WantedWorkflow[]) => void told.push(...wanted),
    site: createSiteValues({ db, secrets, configMaps, sshFiles: openSshFiles(join(root, 'ssh')) }),
    checkouts: createDefinitionCheckouts({ tempDir }),
    git: createGit({
      mirrorsDir: join(root, 'mirrors'),
      tempDir,
      allowedSchemes: SCHEMES,
      publicCaFiles: [],
      environment: { PATH: process.env.PATH },
    }),
  };
  const idOf = async (name: string) => {
    const query = db.selectFrom('propagation_repositories').select(['id', 'sync_wanted']).where('name', '=', name);
    const { id, sync_wanted } = await query.executeTakeFirstOrThrow();
    return { repository: id, sync: sync_wanted };
  };
  /** Makes the sync that is wanted, as the workflow does. Returns the repository as it is shown then. */
  const sync = async (name: string, signal = new AbortController().signal) => {
    const wanted = await idOf(name);
    try {
      await syncRepository(deps, wanted, signal);
    } catch (error) {
      if (!isMusterError(error)) throw error;
      await failSync(deps, { ...wanted, code: error.code, reason: error.detail });
    }
    return getRepository(db, name);
  };
  return {
    ...database,
    ...{ root, deps, told, secrets, configMaps, idOf, sync },
    origin: (name = 'defs') => createRepository(join(root, 'served', name)),
    add: (given: NewRepository) => addRepository(deps, given),
    /** Asks for a sync and makes it. */
    async again(name: string) {
      await requestSync(deps, name);
      return sync(name);
    },
    /** Makes a source; `configMap` has its CA. */
    source: (
      name: string,
      clone_url: string,
      credentials: { username: string; password: string },
      configMap?: string,
    ) =>
      createSource(
        { db, secrets, clock, log: deps.log },
        { actor: 'ann' },
        {
          ...{ name, clone_url, credentials },
          ca_cert: configMap === undefined ? null : { configmap_name: configMap },
        },
      ),
    /** What checkouts have left behind. */
    left: () => readdir(tempDir),
    async close() {
      await database.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** Files of a definition of shell actions in a folder. */
export const definitionAt = (folder: string, version = '1.0.0', script = 'exit 0\n') => ({
  [`${folder}/meta.yaml`]: `version: ${version}\nhandler: shell\n`,
  [`${folder}/actions/run.sh`]: script,
});
