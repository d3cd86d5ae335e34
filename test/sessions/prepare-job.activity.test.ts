/** What is found out before there is a Job, by real Ansible where the records do not tell. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type PrepareDependencies, prepareJob } from '../../activities/sessions/prepare-job.ts';
import { DEFAULT_OPTIONS } from '../../domain/configurations/default-options.ts';
import { createInventories } from '../../drivers/inventory/create-inventories.ts';
import { requestedLeases } from '../../store/leases.ts';
import { findAnsible } from '../support/ansible.ts';
import { COMMIT, makeSession, sessionNow, snapshotLayer } from '../support/engine-sessions.ts';
import { describeNeeding } from '../support/requirement.ts';
import { openMachine, type SessionMachine } from '../support/session-machine.ts';

const FLEET = ['db-1', 'web-1', 'web-2'];

describeNeeding(
  findAnsible() === null ? 'no Ansible is installed' : null,
  'before a Job, with a vault password',
  () => {
    let machine: SessionMachine;
    beforeAll(async () => {
      machine = await openMachine();
      await sql`insert into components (id, updated_at) select id, now() from unnest(${FLEET}::text[]) as id`.execute(
        machine.database.db,
      );
    });
    afterAll(() => machine.close());

    /** Whose additional inventory makes the group `storage`. */
    const dependencies = (overlap: boolean): PrepareDependencies => ({
      ...machine.deps,
      site: { ...machine.deps.site, vaultPassword: async () => 'vault-word' },
      clones: {
        clone: async ({ dest }) => {
          await mkdir(dest, { recursive: true });
          await writeFile(join(dest, '02-storage'), '[storage]\ndb-1\n');
          return { commit: COMMIT, warnings: [] };
        },
      },
      heads: { resolveHead: async () => COMMIT },
      profile: 'restricted',
      readOptions: async () => ({ ...DEFAULT_OPTIONS, allow_overlap: overlap }),
      inventories: createInventories({
        kind: 'components',
        allowLocalConnection: false,
        readComponents: async (ids) => FLEET.filter((id) => ids?.includes(id) ?? true).map((id) => ({ id, tags: {} })),
      }),
    });

    /** Prepares the Job of a session with that limit; answers the components that it takes and the hosts that are missing. */
    async function prepared(ansibleLimit: string, { additional = false, overlap = false }) {
      const { db } = machine.database;
      const { id } = await makeSession(db, {
        ansibleLimit,
        snapshot: {
          layers: [snapshotLayer(0)],
          additional_inventory: additional ? { url: 'https://git.test/i.git', source: null, commit: COMMIT } : null,
          debug_playbook: null,
          ansible_config: 'cfs-default-ansible-cfg',
        },
      });
      const job = `cfs-${id}`;
      await db
        .updateTable('sessions')
        .set({ stage: 'admitted', status: 'running', job })
        .where('id', '=', id)
        .execute();
      await prepareJob(dependencies(overlap), id, AbortSignal.timeout(60_000));
      expect(await machine.deps.workspaces.list()).toEqual([]);
      const { components } = await requestedLeases(db, id);
      return { taken: components.sort(), absent: (await sessionNow(db, id)).absent_hosts };
    }

    test('Ansible names the groups of additional inventory', async () => {
      const found = await prepared('storage,gone-1', { additional: true, overlap: true });
      expect(found).toMatchObject({ absent: ['gone-1'] });
    });

    test('Ansible tells the hosts of a pattern', async () => {
      expect(await prepared('web-*', {})).toEqual({ taken: ['web-1', 'web-2'], absent: null });
    });
  },
);
