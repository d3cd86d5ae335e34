/** What is found out before there is a Job, by real Ansible where the records do not tell. */
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { type PrepareDependencies, prepareJob } from '../../../activities/sessions/cluster/prepare-job.ts';
import { DEFAULT_OPTIONS } from '../../../domain/configurations/default-options.ts';
import { createInventories } from '../../../drivers/inventory/create-inventories.ts';
import { requestedLeases } from '../../../store/components/leases.ts';
import { findSessionJob } from '../../../store/sessions/session-jobs.ts';
import { findAnsible } from '../../support/ansible/ansible.ts';
import { fleetRecords } from '../../support/fakes/fleet-records.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { openMachine, type SessionMachine } from '../../support/stack/session-machine.ts';
import { COMMIT, makeSession, sessionNow, snapshotLayer } from '../../support/temporal/engine-sessions.ts';

const FLEET = ['db-1', 'web-1', 'web-2'];

function gate() {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { wait: promise, open: resolve };
}

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
      clock: () => new Date(),
      readOptions: async () => ({ ...DEFAULT_OPTIONS, allow_overlap: overlap }),
      inventories: createInventories({
        kind: 'components',
        allowLocalConnection: false,
        anyGroup: async () => false,
        ...fleetRecords(FLEET.map((id) => ({ id, tags: {} }))),
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
      // Whoever may patch sessions writes there what he likes, also what is another's on the cluster.
      await db
        .updateTable('sessions')
        .set({ stage: 'admitted', status: 'running', job: 'muster-ssh-ca' })
        .where('id', '=', id)
        .execute();
      await prepareJob(dependencies(overlap), await sessionNow(db, id), AbortSignal.timeout(180_000));
      // A worker with another setting takes it up.
      const other = { ...dependencies(overlap), profile: 'compatible' as const };
      const { drivesItself } = await prepareJob(other, await sessionNow(db, id), AbortSignal.timeout(180_000));
      expect(drivesItself).toBe(false);
      expect(await machine.deps.workspaces.list()).toEqual([]);
      expect((await findSessionJob(db, id))?.name).toMatch(
        /^cfs-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
      const { components } = await requestedLeases(db, id);
      return { taken: components.sort(), absent: (await sessionNow(db, id)).absent_hosts };
    }

    /** A session of which two tries are made at once; `first` is given up while `second` is at work. */
    async function twoTries(reason: string) {
      const { db } = machine.database;
      const { id } = await makeSession(db, {
        snapshot: {
          layers: [{ ...snapshotLayer(0), commit: null }],
          additional_inventory: null,
          debug_playbook: null,
          ansible_config: 'cfs-default-ansible-cfg',
        },
      });
      const admitted = { stage: 'admitted', status: 'running', job: `cfs-${id}` } as const;
      await db.updateTable('sessions').set(admitted).where('id', '=', id).execute();
      const slow = dependencies(true);
      const [begun, written, goOn] = [gate(), gate(), gate()];
      const { write } = slow.inventories;
      const givenUp = new AbortController();
      const stuck = async () => {
        begun.open();
        await once(givenUp.signal, 'abort');
        throw givenUp.signal.reason;
      };
      const first = prepareJob({ ...slow, inventories: { write: stuck } }, await sessionNow(db, id), givenUp.signal);
      first.catch(() => undefined);
      await begun.wait;
      const gated: typeof write = async (request) => {
        const answer = await write(request);
        written.open();
        await goOn.wait;
        return answer;
      };
      const second = prepareJob(
        { ...slow, inventories: { write: gated } },
        await sessionNow(db, id),
        AbortSignal.timeout(180_000),
      );
      second.catch(() => undefined);
      await written.wait;
      givenUp.abort(new Error(reason));
      await expect(first).rejects.toThrow(reason);
      goOn.open();
      const recorded = async () => {
        const row = db.selectFrom('session_jobs').select('inventory').where('session_id', '=', id);
        return Object.keys((await row.executeTakeFirst())?.inventory.files ?? {});
      };
      return { second, recorded };
    }

    test('a try that was given up leaves the next one its folder', async () => {
      const { second, recorded } = await twoTries('TIMED_OUT');
      await second;
      expect(await recorded()).toEqual(['hosts/01-cfs-generated.yaml']);
    });

    test('a try whose folder was taken away records no inventory without hosts', async () => {
      // Such a one removes it, as one that failed by itself does.
      const { second, recorded } = await twoTries('CANCELLED');
      await expect(second).rejects.toMatchObject({ code: 'ENOENT' });
      expect(await recorded()).toEqual([]);
    });

    test('Ansible names the groups of additional inventory', async () => {
      const found = await prepared('storage,gone-1', { additional: true, overlap: true });
      expect(found).toMatchObject({ absent: ['gone-1'] });
    });

    test('Ansible tells the hosts of a pattern', async () => {
      expect(await prepared('web-*', {})).toEqual({ taken: ['web-1', 'web-2'], absent: null });
    });
  },
);
