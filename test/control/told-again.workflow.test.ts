/**
 * Record, tell, sweep in every lane: the lanes of a worker as it opens them, real databases, and real Temporal servers of which no worker
 * takes anything. Temporal is away while records are written; later the sweep tells it; then its store is empty, and the sweep tells it again.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '@temporalio/client';
import { dataPaths } from '../../config/data-paths.ts';
import { loadEnvironment } from '../../config/environment.ts';
import { runPlan } from '../../control/propagation/command-plan.ts';
import { createRepository } from '../../control/propagation/create-repository.ts';
import { createResource } from '../../control/propagation/create-resource.ts';
import { processChanges } from '../../control/propagation/process-changes.ts';
import { putDefinition } from '../../control/propagation/put-definition.ts';
import { openRun } from '../../control/runs/open-run.ts';
import { createScheduleEngine } from '../../control/schedules/schedule-engine.ts';
import { createDispatcher } from '../../control/sessions/dispatcher.ts';
import { connectTemporal, type TemporalConnection } from '../../control/temporal/connect.ts';
import { createTell } from '../../control/temporal/tell.ts';
import { openAddressSeal } from '../../control/webhooks/address-seal.ts';
import { followNotifications } from '../../control/webhooks/follow-notifications.ts';
import { contextWorkflowId } from '../../domain/deployments/workflow-id.ts';
import { planWorkflowId } from '../../domain/propagation/workflow-id.ts';
import { readYaml } from '../../drivers/propagation-content/read-yaml.ts';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { noteRunMachine, SESSION_MACHINES } from '../../store/runs/run-machines.ts';
import { markRunStarted } from '../../store/runs/runs.ts';
import { createSecretStore } from '../../store/secrets/secrets.ts';
import { LANES } from '../../worker/lanes.ts';
import type { LaneParts, WorkerShared } from '../../worker/shared/open-shared.ts';
import { makeDeployment } from '../deployments/placement-fixtures.ts';
import { ableWorker, importedImage, PUBLIC_KEY } from '../images/fixtures.ts';
import { eventually } from '../support/eventually.ts';
import { openProxy, type TcpProxy } from '../support/fakes/tcp-proxy.ts';
import { describeNeeding } from '../support/requirement.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';
import { temporalMissing } from '../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer } from '../support/temporal/workflow-environment.ts';

/** Longer than any lane leaves a young record to who has written it, and less than a machine is silent. */
const LATER_MS = 40_000;
/** Words of a Temporal that is away. */
const AWAY = /no answer|DEADLINE_EXCEEDED|UNAVAILABLE/;
const later = () => new Date(Date.now() + LATER_MS);

interface Lane {
  /** Writes a record that wants something, as a client does; returns the id of the workflow that it wants. */
  record(): Promise<string>;
  /** What the log says of a record that Temporal did not hear of; undefined where no request tells it. */
  untold?: object;
}

describeNeeding(temporalMissing(), 'what a record wants', () => {
  let dir: string;
  let api: TestApi;
  let proxy: TcpProxy;
  let away: TemporalConnection;
  let servers: [TestServer, TestServer];
  const logged: Record<string, unknown>[] = [];
  const log = { info: () => undefined, warn: (fields: object) => void logged.push({ ...fields }) };
  /** Times for which Temporal was waited for while it was away, ms. */
  let waited: number[] = [];
  /** Ids of what was recorded, by lane. */
  const recorded = new Map<string, string>();

  beforeAll(async () => {
    servers = await Promise.all([openDevServer(), openDevServer()]);
    dir = await mkdtemp(join(tmpdir(), 'muster-told-again-'));
    // It takes connections and says nothing.
    proxy = await openProxy('127.0.0.1:9');
    proxy.freeze();
    away = connectTemporal({ address: proxy.address, namespace: 'default', identity: 'away@test' });
    const { client } = away;
    const withDeadline = client.withDeadline.bind(client);
    client.withDeadline = (deadline, work) => {
      waited.push(Number(deadline) - Date.now());
      return withDeadline(deadline, work);
    };
    api = await createTestApi({
      clock: () => new Date(),
      tell: createTell({ client: away.client, log }),
      schedules: createScheduleEngine(away.client),
    });
  });
  afterAll(async () => {
    await away?.close();
    await proxy?.cut();
    await api?.close();
    for (const server of servers ?? []) await server.close();
    await rm(dir, { recursive: true, force: true });
  });

  const call = async (method: string, url: string, body?: object) => {
    const { status, body: answered } = await api.call(method, url, body);
    if (status >= 300) throw new Error(`${method} ${url}: ${status} ${JSON.stringify(answered)}`);
    return answered;
  };

  /** The lanes of a worker whose Temporal this is. */
  async function openLanes(client: Client): Promise<Map<string, LaneParts>> {
    const { db } = api.deps;
    const env = loadEnvironment({
      MUSTER_DATA_DIR: dir,
      MUSTER_IMAGE_SERVICE: 'false',
      MUSTER_HARDWARE_SYNC_URL: 'http://127.0.0.1:9',
    });
    const cipher = openSecretCipher(join(dir, 'secret.key'));
    const values = { repositoryAccess: async () => ({}) };
    const shared = {
      ...{ env, environment: {}, log, paths: dataPaths(dir), temporary: dir, searchPath: '', db, client, clock: later },
      ...{ tell: createTell({ client, log }), database: { url: api.database.url } },
      ...{
        hostId: 'disk',
        queue: 'queue',
        ansible: dir,
        python: 'python',
        runner: {},
        git: {},
        owners: [],
        sweeps: [],
      },
      site: { secrets: createSecretStore(db, cipher, () => new Date()), cipher, values, platformCa: undefined },
      trust: { isRenewalWanted: async () => true },
      builtInImages: { service: null, activities: {} },
      dispatcher: { kick: () => undefined },
    } as unknown as WorkerShared;
    const opened = Object.entries(LANES).map(async ([lane, open]) => [lane, await open(shared)] as const);
    return new Map(await Promise.all(opened));
  }

  const isOpen = async (client: Client, id: string): Promise<boolean> => {
    const handle = id.startsWith('schedule/') ? client.schedule.getHandle(id) : client.workflow.getHandle(id);
    const found = await handle.describe().catch(() => null);
    return found !== null && (!('status' in found) || found.status.name === 'RUNNING');
  };

  const RECORDS: Record<string, Lane> = {
    runs: {
      record: async () => {
        const { db } = api.deps;
        const run = { id: 'toy-7-1', sessionId: null, owner: { kind: 'toy', id: '7' }, streamId: 'toy-7-1' };
        await openRun(db, { ...run, layer: 0, attempt: 1, host: 'disk-1' }, new Date());
        await markRunStarted(db, run.id, new Date());
        await call('POST', '/api/v1/runs/toy-7-1/end');
        await noteRunMachine(db, { machine: 'disk-1', queue: 'q', kind: SESSION_MACHINES }, later());
        return 'end-run/toy-7-1';
      },
      untold: { workflow: 'end-run/toy-7-1' },
    },
    // The sync, the renewal and the batcher are wanted by settings, certificates and components, which no request tells Temporal of.
    components: { record: async () => 'hardware-sync' },
    trust: { record: async () => 'trust' },
    batches: { record: async () => 'batcher' },
    images: {
      record: async () => {
        api.now.value = new Date();
        await ableWorker(api);
        const key = await call('POST', '/apis/ims/public-keys', { name: 'k', public_key: PUBLIC_KEY });
        const image = { artifact_id: await importedImage(api), public_key_id: key.id };
        const job = await call('POST', '/apis/ims/jobs', {
          ...{ job_type: 'customize', image_root_archive_name: 'out', ...image },
        });
        return `image-job/${job.id}`;
      },
      untold: { workflow: expect.stringMatching(/^image-job\//) },
    },
    sessions: {
      record: async () => {
        const layers = [{ clone_url: 'https://git.test/p.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
        await call('PUT', '/v3/configurations/web', { layers });
        const session = await call('POST', '/v3/sessions', { configuration_name: 'web', name: 's1' });
        const { db } = api.deps;
        const dispatcher = createDispatcher({ db, client: away.client, log, deliveryMs: 500 });
        dispatcher.kick();
        await eventually('it is not delivered', () => logged.some(({ kind }) => kind === 'start'));
        await dispatcher.stop();
        // Its outbox has nothing more: the sweep alone knows of it.
        await db.deleteFrom('outbox').execute();
        await db
          .updateTable('sessions')
          .set({ created_at: new Date(Date.now() - LATER_MS) })
          .execute();
        return `session/s1/${session.id ?? (await db.selectFrom('sessions').select('id').executeTakeFirstOrThrow()).id}`;
      },
    },
    schedules: {
      record: async () => {
        const body = { name: 'nightly', cron: '0 3 1 1 *', action: { refresh: {} } };
        const made = await call('POST', '/api/v1/schedules', body);
        // Members of the record, which say how it stands with Temporal.
        expect(made).toMatchObject({ synced: false, sync_error: expect.any(String) });
        expect(api.logged).toContainEqual(expect.objectContaining({ schedule: 'nightly' }));
        return 'schedule/nightly';
      },
    },
    webhooks: {
      record: async () => {
        const events = ['session.ended'];
        await call('POST', '/api/v1/webhooks', { name: 'ops', url: 'https://hooks.test/a', events });
        const { db, secrets } = api.deps;
        const deps = { db, secrets, addressSeal: openAddressSeal(db, secrets, null), clock: () => new Date() };
        const tell = createTell({ client: away.client, log });
        const stop = followNotifications({ ...deps, tell, log, database: { url: api.database.url } });
        await call('POST', '/api/v1/webhooks/ops/test');
        await eventually('it is not told', () => logged.some(({ workflow }) => workflow === 'webhook/ops'));
        await stop();
        return 'webhook/ops';
      },
    },
    propagation: {
      record: async () => {
        const { db } = api.deps;
        const tell = createTell({ client: away.client, log });
        const deps = {
          db,
          tell,
          readYaml,
          actor: null,
          clock: () => new Date(),
          runner: 'local' as const,
          allowsLocal: true,
        };
        await createRepository(deps, { name: 'resources' });
        const key = { repository: 'resources', name: 'data', version: '1.0.0' };
        await putDefinition(deps, { ...key, files: { 'meta.yaml': 'version: 1.0.0' }, overwrite: false });
        await createResource(deps, { name: 'alone', from: 'data' });
        const { id } = await processChanges(deps, {});
        await runPlan(deps, id);
        return planWorkflowId(id);
      },
      untold: { workflow: expect.stringMatching(/^plan\//) },
    },
    deployments: {
      record: async () => {
        const { group } = await makeDeployment(api.call, 'told');
        await call('POST', `${group}/approve`);
        const { instance } = await call('POST', `${group}/instantiate`);
        return contextWorkflowId(instance);
      },
      untold: { workflow: expect.stringMatching(/^appcontext\//) },
    },
  };

  test('is found by the sweep of every lane', async () => {
    const lanes = await openLanes(servers[0].environment.client);
    expect([...lanes].filter(([, { sweep }]) => sweep === undefined).map(([lane]) => lane)).toEqual([]);
    expect([...lanes.keys()].sort()).toEqual(Object.keys(RECORDS).sort());
  });

  describe.each(Object.keys(RECORDS))('in lane %s', (lane) => {
    const { record, untold } = RECORDS[lane] as Lane;
    /** Sweeps the lane; the sessions that it finds are delivered as always. A sweep for which a busy Temporal is too slow comes again. */
    async function sweep(client: Client): Promise<void> {
      const swept = (await openLanes(client)).get(lane)?.sweep?.(new AbortController().signal);
      await swept?.catch((error: Error) => {
        if (!/no answer|deadline/i.test(error.message)) throw error;
      });
      const dispatcher = createDispatcher({ db: api.deps.db, client, log, pollMs: 20 });
      await eventually('the outbox is empty', async () => {
        return (await api.deps.db.selectFrom('outbox').select('id').execute()).length === 0;
      });
      await dispatcher.stop();
    }

    test('stands when Temporal is away: the request is answered in time, and the log alone says it', async () => {
      logged.length = 0;
      waited = [];
      recorded.set(lane, await record());
      // Told apart from the time that a busy machine takes for all the rest.
      expect(waited.reduce((sum, ms) => sum + ms, 0)).toBeLessThan(8_000);
      if (untold !== undefined) {
        // Which of them depends on how long the connection has been tried.
        expect(logged).toMatchObject([{ ...untold, err: expect.stringMatching(AWAY) }]);
      }
    });

    test('is no failure of a sweep that meets a Temporal that is away', async () => {
      logged.length = 0;
      const lanes = await openLanes(away.client);
      const swept = await lanes
        .get(lane)
        ?.sweep?.(new AbortController().signal)
        .catch((error: Error) => error.message);
      // Sessions and schedules look into Temporal itself: their sweep comes again.
      if (['sessions', 'schedules'].includes(lane))
        expect(swept).toMatch(/no answer|deadline|unavailable|Failed to list/i);
      else expect({ swept, told: logged.length > 0 }).toEqual({ swept: undefined, told: true });
    });

    test.each([
      ['is told when it is back', 0],
      ['is told again where its store is empty', 1],
    ])('%s', async (_what, index) => {
      const { client } = (servers[index] as TestServer).environment;
      const id = recorded.get(lane) ?? '';
      expect(await isOpen(client, id)).toBe(false);
      await eventually(`${id} is there`, async () => {
        await sweep(client);
        return isOpen(client, id);
      });
      // A further sweep changes nothing.
      await sweep(client);
      expect(await isOpen(client, id)).toBe(true);
    });
  });
});
