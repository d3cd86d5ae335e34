/** The activities before the first layer: clone and inventory. */
import { readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DEFAULT_OPTIONS } from '../../../domain/configurations/default-options.ts';
import { musterError } from '../../../domain/errors.ts';
import type { Clones, InventoryRequest } from '../../../domain/sessions/ports.ts';
import type { NewSession } from '../../../store/sessions/sessions.ts';
import { activityEnvironment, openMachine, perform, type SessionMachine } from '../../support/stack/session-machine.ts';
import { COMMIT, makeSession, sessionNow, snapshotLayer } from '../../support/temporal/engine-sessions.ts';

let machine: SessionMachine;
beforeAll(async () => {
  machine = await openMachine();
});
afterAll(() => machine.close());

type CloneRequest = Parameters<Clones['clone']>[0];
const OTHER = 'b'.repeat(40);
const snapshot = (given: Partial<NewSession['snapshot']> = {}): NewSession['snapshot'] => ({
  layers: [snapshotLayer(0, { commit: null }), snapshotLayer(3)],
  additional_inventory: null,
  debug_playbook: null,
  ansible_config: 'special-cfg',
  ...given,
});
const messagesOf = async (id: string) => (await machine.events(id)).map(({ data }) => data.message);

describe('a clone', () => {
  const cloning = (answer: (request: CloneRequest) => Promise<{ commit: string; warnings: string[] }>) => {
    const asked: CloneRequest[] = [];
    const clone = (request: CloneRequest) => {
      asked.push(request);
      return answer(request);
    };
    return { asked, clones: { clone } };
  };

  test('puts every repository in its place and pins what had no commit', async () => {
    const additional_inventory = { url: 'https://git.test/inventory.git', source: null, commit: null };
    const { id } = await makeSession(machine.database.db, { snapshot: snapshot({ additional_inventory }) });
    const { asked, clones } = cloning(async ({ commit, dest }) => ({
      commit: commit ?? OTHER,
      warnings: dest.endsWith('layer3') ? ['a link was left out', 'odd\u0000'] : [],
    }));
    const names: string[] = [];
    const site = {
      ...machine.deps.site,
      ansibleConfig: async (name: string) => {
        names.push(name);
        return '[defaults]\n';
      },
      vaultPassword: async () => 'vault-word',
    };
    const worker = machine.worker({ clones, site });
    expect(await perform(() => worker.cloneLayers({ sessionId: id }))).toEqual({
      hostQueue: 'muster-host-test-host',
      folder: expect.stringContaining(id),
    });
    const paths = machine.deps.workspaces.paths(id);
    expect(asked.map(({ dest, commit }) => [dest.slice(paths.dir.length), commit]).sort()).toEqual([
      ['/hosts', null],
      ['/layer0', null],
      ['/layer3', COMMIT],
    ]);
    const { layers, additional_inventory: inventory } = (await sessionNow(machine.database.db, id)).snapshot;
    expect([...layers, inventory].map((repository) => repository?.commit)).toEqual([OTHER, COMMIT, OTHER]);
    expect(await messagesOf(id)).toEqual(['layer 4: a link was left out', 'layer 4: odd\ufffd']);
    expect(names).toEqual(['special-cfg']);
    expect(await readFile(paths.vaultPassword, 'utf8')).toBe('vault-word');
    for (const path of [paths.ansibleConfig, paths.sshKey, paths.knownHosts, paths.vaultPassword]) {
      expect((await stat(path)).mode & 0o777).toBe(0o600);
    }
  });

  test('uses the access of each source, and of a missing one says so', async () => {
    const layers = [snapshotLayer(0, { source: 'gitea' })];
    const { id } = await makeSession(machine.database.db, { snapshot: snapshot({ layers }) });
    const { asked, clones } = cloning(async () => ({ commit: COMMIT, warnings: [] }));
    const gone = perform(() => machine.worker({ clones }).cloneLayers({ sessionId: id }));
    await expect(gone).rejects.toMatchObject({ code: 'source_unknown', message: expect.stringContaining('layer 1: ') });
    const source = {
      name: 'gitea',
      clone_url: 'u',
      credentials: { authentication_method: 'password' as const, secret_name: 's' },
      last_updated: '',
      ca_cert: null,
    };
    const site = {
      ...machine.deps.site,
      source: async () => source,
      repositoryAccess: async () => ({ credentials: { username: 'u', password: 'p' } }),
    };
    await perform(() => machine.worker({ clones, site }).cloneLayers({ sessionId: id }));
    expect(asked).toMatchObject([{ sourceName: 'gitea', credentials: { username: 'u' } }]);
  });

  test.each([
    [musterError('repository_auth_failed', 'refused'), 'clone failed: layer 1: refused', 'repository_auth_failed'],
    [musterError('clone_failed', 'no route'), 'clone failed, trying again: layer 1: no route', 'clone_failed'],
  ])('that fails names its layer', async (error, message, reason) => {
    const layers = [snapshotLayer(0)];
    const { id } = await makeSession(machine.database.db, { snapshot: snapshot({ layers }) });
    const { clones } = cloning(() => Promise.reject(error));
    const failed = perform(() => machine.worker({ clones }).cloneLayers({ sessionId: id }));
    await expect(failed).rejects.toMatchObject({ code: reason });
    expect(await sessionNow(machine.database.db, id)).toMatchObject({ message, reason, phase: 'clone' });
  });

  test('that fails ends the others before it says so', async () => {
    const layers = Array.from({ length: 6 }, (_, index) => snapshotLayer(index));
    const { id } = await makeSession(machine.database.db, { snapshot: snapshot({ layers }) });
    let working = 0;
    const { asked, clones } = cloning(async ({ dest, signal }) => {
      if (dest.endsWith('layer1')) throw musterError('clone_failed', 'no route');
      working += 1;
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      await new Promise((resolve) => setImmediate(resolve));
      working -= 1;
      throw new Error('aborted');
    });
    const failed = perform(() => machine.worker({ clones }).cloneLayers({ sessionId: id }));
    await expect(failed).rejects.toMatchObject({ code: 'clone_failed', message: 'layer 2: no route' });
    expect([asked.length, working]).toEqual([4, 0]);
  });

  test.each([
    ['leaves nothing behind', 'CANCELLED', false],
    ['leaves the folder to the worker that has taken it up meanwhile', 'TIMED_OUT', true],
  ] as const)('that is broken off %s', async (_title, why, left) => {
    const { id } = await makeSession(machine.database.db, { snapshot: snapshot() });
    const begun = Promise.withResolvers<void>();
    const { clones } = cloning(async ({ signal }) => {
      begun.resolve();
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      throw new Error('aborted');
    });
    const environment = activityEnvironment();
    const broken = perform(() => machine.worker({ clones }).cloneLayers({ sessionId: id }), environment);
    broken.catch(() => undefined);
    await begun.promise;
    environment.cancel(why);
    await expect(broken).rejects.toThrow();
    expect((await machine.deps.workspaces.list()).includes(id)).toBe(left);
  });

  test('works on at most four repositories at a time', async () => {
    const layers = Array.from({ length: 9 }, (_, index) => snapshotLayer(index));
    const { id } = await makeSession(machine.database.db, { snapshot: snapshot({ layers }) });
    let now = 0;
    let most = 0;
    const { asked, clones } = cloning(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setImmediate(resolve));
      now -= 1;
      return { commit: COMMIT, warnings: [] };
    });
    await perform(() => machine.worker({ clones }).cloneLayers({ sessionId: id }));
    expect([asked.length, most]).toEqual([9, 4]);
  });
});

describe('an inventory', () => {
  const writing = (hosts: number | null, warnings: string[] = []) => {
    const asked: InventoryRequest[] = [];
    const write = async (request: InventoryRequest) => {
      asked.push(request);
      return { hosts, limit: null, warnings };
    };
    return { asked, inventories: { write } };
  };
  const write = (sessionId: string, instead: Parameters<SessionMachine['worker']>[0]) =>
    perform(() => machine.worker(instead).writeInventory({ sessionId }));

  test('is asked for as the session and the options say, and its warnings are events', async () => {
    const { id } = await makeSession(machine.database.db, { ansibleLimit: 'h1,h2' });
    const { asked, inventories } = writing(2, ['x[0:3] was left out']);
    const readOptions = async () => ({
      ...DEFAULT_OPTIONS,
      inventory_scope: 'all' as const,
      allow_partial_inventory: true,
    });
    await write(id, { inventories, readOptions });
    const dir = machine.deps.workspaces.paths(id).hosts;
    expect(asked).toMatchObject([
      { definition: 'dynamic', limit: 'h1,h2', scope: 'all', allowPartial: true, dir, groups: [] },
    ]);
    expect(await messagesOf(id)).toEqual(['x[0:3] was left out']);
    expect(await sessionNow(machine.database.db, id)).toMatchObject({
      phase: 'inventory',
      message: 'writing the inventory',
    });
  });

  test('without a host fails the session', async () => {
    const { id } = await makeSession(machine.database.db, { ansibleLimit: 'h9' });
    const failed = write(id, { inventories: writing(0).inventories });
    await expect(failed).rejects.toMatchObject({ code: 'inventory_empty', message: expect.stringContaining('h9') });
    expect(await sessionNow(machine.database.db, id)).toMatchObject({
      message: 'inventory failed: The inventory has no host for the limit h9',
      reason: 'inventory_empty',
    });
  });

  test.each([
    ['of a debugging playbook', { snapshot: snapshot({ layers: [], debug_playbook: 'noop' }) }, 0],
    ['of a repository', { target: { definition: 'repo' as const, groups: null, image_map: null } }, null],
    [
      'of groups',
      { target: { definition: 'spec' as const, groups: [{ name: 'g', members: [] }], image_map: null } },
      0,
    ],
  ])('%s may be without a host', async (_title, given, hosts) => {
    const { id } = await makeSession(machine.database.db, given);
    await write(id, { inventories: writing(hosts).inventories });
    expect((await sessionNow(machine.database.db, id)).reason).toBeNull();
  });
});
