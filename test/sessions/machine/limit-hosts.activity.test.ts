/** Which hosts a limit means and which of them the inventory lacks, by real Ansible in a real workspace. */
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { DEFAULT_OPTIONS } from '../../../domain/configurations/default-options.ts';
import { limitOfRun } from '../../../domain/sessions/ansible-arguments.ts';
import { createInventories } from '../../../drivers/inventory/create-inventories.ts';
import { requestedLeases } from '../../../store/components/leases.ts';
import type { NewSession } from '../../../store/sessions/sessions.ts';
import { findAnsible } from '../../support/ansible/ansible.ts';
import { eventually } from '../../support/eventually.ts';
import { fleetRecords } from '../../support/fakes/fleet-records.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { openMachine, perform, type SessionMachine } from '../../support/stack/session-machine.ts';
import { makeSession, sessionNow, snapshotLayer } from '../../support/temporal/engine-sessions.ts';

/** Hosts of the fleet with their racks. */
const FLEET = ['web-1', 'web-2', 'web-3', 'db-1', 'db-2'];
const COMPONENTS = FLEET.map((id, index) => ({
  id,
  tags: { role: id.split('-')[0] ?? '', rack: String(index % 2), ansible_connection: 'local' },
}));

describeNeeding(findAnsible() === null ? 'no Ansible is installed' : null, 'the hosts of a limit', () => {
  let machine: SessionMachine;
  beforeAll(async () => {
    machine = await openMachine();
    await sql`insert into components (id, updated_at) select id, now() from unnest(${FLEET}::text[]) as id`.execute(
      machine.database.db,
    );
  });
  afterAll(() => machine.close());

  const inventories = createInventories({
    kind: 'components',
    allowLocalConnection: true,
    anyGroup: async () => false,
    ...fleetRecords(COMPONENTS),
  });

  /** A session whose workspace is there, with files of additional inventory. */
  async function session(
    ansibleLimit: string,
    additional: Record<string, string> = {},
    given: Partial<NewSession> = {},
  ): Promise<string> {
    const isAdded = Object.keys(additional).length > 0;
    const { id } = await makeSession(machine.database.db, {
      ansibleLimit,
      snapshot: {
        layers: [snapshotLayer(0)],
        additional_inventory: isAdded ? { url: 'https://git.test/inventory.git', source: null, commit: null } : null,
        debug_playbook: null,
        ansible_config: 'cfs-default-ansible-cfg',
      },
      ...given,
    });
    const paths = await machine.deps.workspaces.make(id);
    await machine.deps.workspaces.writePrivate(paths.ansibleConfig, await machine.deps.site.ansibleConfig(''));
    await mkdir(paths.hosts, { recursive: true });
    for (const [name, text] of Object.entries(additional)) await writeFile(join(paths.hosts, name), text);
    return id;
  }

  const write = (sessionId: string, overlap = false, instead: Parameters<SessionMachine['worker']>[0] = {}) => {
    const readOptions = async () => ({ ...DEFAULT_OPTIONS, allow_overlap: overlap });
    const worker = machine.worker({ inventories, readOptions, ...instead });
    return perform(() => worker.writeInventory({ sessionId }));
  };
  const needed = async (sessionId: string) => (await requestedLeases(machine.database.db, sessionId)).components.sort();
  const absent = async (sessionId: string) => (await sessionNow(machine.database.db, sessionId)).absent_hosts;

  test.each([
    ['web-1,db-2', ['db-2', 'web-1']],
    ['', [...FLEET].sort()],
    ['web-*:!web-2', ['web-1', 'web-3']],
    ['role_web:&rack_0', ['web-1', 'web-3']],
    ['role_db', ['db-1', 'db-2']],
    ['role_db,web-1', ['db-1', 'db-2', 'web-1']],
    ['~(web|db)-1', ['db-1', 'web-1']],
    ['role_web[0:1]', ['web-1', 'web-2']],
    ['all,!role_web', ['db-1', 'db-2']],
    ['web-9*', []],
  ])('%j are %j', async (limit, hosts) => {
    const id = await session(limit);
    expect(await write(id)).toMatchObject({ leases: hosts.length > 0 });
    expect(await needed(id)).toEqual(hosts);
  });

  test('a limit that is too long for an argument goes by a file that does not stay', async () => {
    const filler = Array.from({ length: 6_000 }, (_, index) => `nobody-${index}*`).join(',');
    const id = await session(`web-1,${filler}`);
    await write(id);
    expect(await needed(id)).toEqual(['web-1']);
    const dir = join(machine.deps.workspaces.paths(id).dir, '..', '..');
    expect((await readdir(dir)).filter((name) => name.startsWith('limit-'))).toEqual([]);
  });

  test('groups of additional inventory count in a plain list too', async () => {
    const id = await session('web-1,more', { '02-more': '[more]\ndb-1\nelsewhere\n' });
    await write(id);
    expect(await needed(id)).toEqual(['db-1', 'web-1']);
  });

  test('are asked for only while sessions may not overlap', async () => {
    const never = async () => {
      throw new Error('was asked');
    };
    const ansibleHosts = { matching: never, names: never };
    expect(await write(await session('web-*'), true, { ansibleHosts })).toEqual({ leases: false, aim: 'limit web-*' });
    expect(await write(await session('web-1'), false, { ansibleHosts })).toEqual({
      leases: true,
      aim: 'web-1 (1 host)',
    });
    await expect(write(await session('web-*'), false, { ansibleHosts })).rejects.toThrow('was asked');
  });

  test('that Ansible cannot tell fail the session, and no secret shows', async () => {
    const id = await session('web-*');
    const paths = machine.deps.workspaces.paths(id);
    await writeFile(paths.ansibleConfig, '[defaults\nhunter2secret\n');
    const site = { ...machine.deps.site, masks: async () => ['hunter2secret'] };
    const failed = write(id, false, { site });
    await expect(failed).rejects.toMatchObject({ code: 'inventory_failed' });
    await expect(failed).rejects.not.toThrow('hunter2secret');
    expect((await sessionNow(machine.database.db, id)).reason).toBe('inventory_failed');
  });

  test('a cancel ends Ansible and the scripts of the inventory', async () => {
    const mark = join(machine.deps.workspaces.paths('x').dir, '..', 'pid');
    const id = await session('web-*', { '02-slow.sh': `#!/bin/sh\necho $$ > ${mark}\nexec sleep 3600\n` });
    await chmod(join(machine.deps.workspaces.paths(id).hosts, '02-slow.sh'), 0o755);
    const giveUp = new AbortController();
    const { matching } = machine.deps.ansibleHosts;
    const ansibleHosts = {
      ...machine.deps.ansibleHosts,
      matching: (limit: string, where: Parameters<typeof matching>[1]) => matching(limit, where, giveUp.signal),
    };
    const writing = write(id, false, { ansibleHosts });
    writing.catch(() => undefined);
    const pid = await eventually('the script runs', async () => {
      const text = await readFile(mark, 'utf8').catch(() => '');
      return text.trim() !== '' && Number(text);
    });
    giveUp.abort(new Error('cancelled'));
    await expect(writing).rejects.toThrow('cancelled');
    await eventually('the script is gone', async () => !(await isRunning(pid)));
  });

  describe('that the inventory lacks', () => {
    test.each([
      ['web-1,web-2', []],
      ['web-1,gone-1,gone-2', ['gone-1', 'gone-2']],
      ['web-1,role_db', []],
      ['web-*,gone-1', null],
      ['', null],
    ])('of the limit %j are %j', async (limit, expected) => {
      const id = await session(limit);
      await write(id, true);
      expect(await absent(id)).toEqual(expected);
    });

    test('are known also when none is left and the session fails', async () => {
      const id = await session('gone-1');
      await write(id, true, {
        inventories: createInventories({
          kind: 'components',
          allowLocalConnection: true,
          anyGroup: async () => false,
          ...fleetRecords([]),
        }),
      }).catch(() => undefined);
      expect(await absent(id)).toEqual(['gone-1']);
    });

    test('are not those that additional inventory brings, as host or as group', async () => {
      const id = await session('web-1,extra-1,more,gone-1', { '02-more': 'extra-1\n[more]\nextra-2\n' });
      await write(id, true);
      expect(await absent(id)).toEqual(['gone-1']);
    });
  });

  describe('that Muster names', () => {
    const components = [...COMPONENTS, { id: 'role_web', tags: { role: 'x' } }, { id: 'node_1', tags: { role: 'x' } }];
    const fleet = createInventories({
      kind: 'components',
      allowLocalConnection: true,
      anyGroup: async (names) => names.includes('role_web'),
      ...fleetRecords(components),
    });
    const hsm = createInventories({
      kind: 'hsm',
      read: async () => ({
        records: {
          groups: [
            { label: 'role_web', members: ['web-1', 'web-2'] },
            { label: 'other', members: ['role_web', 'node_1', 'db-1'] },
          ],
          partitions: [],
          components: [],
        },
        warnings: [],
      }),
    });
    const constructed = {
      '02-more.yml': "plugin: constructed\nstrict: true\ngroups:\n  node_1: inventory_hostname.startswith('db')\n",
    };
    const cases: [string, string, typeof fleet, Record<string, string>, string[], string][] = [
      ['tags', 'web-1,role_web,db-1', fleet, {}, ['role_web'], 'web-1,db-1'],
      ['a hardware manager', 'role_web,db-1', hsm, {}, ['role_web'], 'db-1'],
      ['additional inventory', 'node_1,db-1', fleet, { '02-more': '[node_1]\nweb-3\n' }, ['node_1'], 'db-1'],
      ['the plugin constructed', 'node_1,web-1', fleet, constructed, ['node_1'], 'web-1'],
      ['nothing but absent hosts', 'gone-1,web-2', fleet, {}, ['gone-1'], 'web-2'],
    ];
    for (const scope of ['all', 'limit'] as const) {
      test.each(cases)(
        `never mean a group of %s, with scope ${scope}`,
        async (_by, limit, inventories, files, out, rest) => {
          const id = await session(limit, files, { limitOfHosts: true });
          const readOptions = async () => ({ ...DEFAULT_OPTIONS, allow_overlap: false, inventory_scope: scope });
          await write(id, false, { inventories, readOptions });
          const now = await sessionNow(machine.database.db, id);
          expect(now.absent_hosts).toEqual(out);
          expect(limitOfRun(now)).toBe(rest);
          expect(await needed(id)).toEqual(rest.split(',').sort());
        },
      );

      test.each(cases.slice(0, 4))(
        `end the session when all are groups of %s, with scope ${scope}`,
        async (_by, _limit, inventories, files, out) => {
          const id = await session(out.join(','), files, { limitOfHosts: true });
          const readOptions = async () => ({ ...DEFAULT_OPTIONS, inventory_scope: scope });
          await expect(write(id, true, { inventories, readOptions })).rejects.toMatchObject({
            code: 'inventory_empty',
            message: expect.stringContaining(`'${out[0]}' is a group of the inventory`),
          });
          expect(await absent(id)).toEqual(out);
        },
      );
    }

    test('end the session when Ansible would run it on another host', async () => {
      const id = await session('web-1,role_web', {}, { limitOfHosts: true });
      const ansibleHosts = { ...machine.deps.ansibleHosts, matching: async () => ['web-1', 'db-2'] };
      await expect(write(id, true, { inventories: fleet, ansibleHosts })).rejects.toMatchObject({
        code: 'inventory_invalid',
        message: expect.stringContaining('db-2'),
      });
    });

    test('of a retry may be the machine itself, of a batch not', async () => {
      const first = await session('web-1', {}, { limitOfHosts: true });
      const retry = await session('localhost,web-1', {}, { limitOfHosts: true, retryOf: first });
      await write(retry, true, { inventories: fleet });
      expect(await absent(retry)).toEqual([]);
      const batch = await session('localhost,web-1', {}, { limitOfHosts: true });
      await write(batch, true, { inventories: fleet });
      expect(await absent(batch)).toEqual(['localhost']);
    });

    test('but a limit of a person is a pattern: it means the group, with a warning', async () => {
      const id = await session('role_web');
      await write(id, false, { inventories: fleet });
      expect(await needed(id)).toEqual(['web-1', 'web-2', 'web-3']);
      expect(await absent(id)).toEqual([]);
      const { rows } = await sql<{
        text: string;
      }>`select data::text as text from events where stream_id = ${id}`.execute(machine.database.db);
      expect(rows.map(({ text }) => text).join('\n')).toMatch(/'role_web' in the limit means a group of the inventory/);
    });
  });
});

async function isRunning(pid: number): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null);
  return stat !== null && !/^\d+ \(.*\) Z/.test(stat);
}
