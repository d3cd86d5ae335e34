/** What an operator's process holds: its lease, the ways of its runs, its metrics. */

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { AdmittedRun } from '../../../domain/operator/proxy-ports.ts';
import type { WatchState } from '../../../domain/operator/resource-words.ts';
import { listenForMetrics } from '../../../drivers/operator-metrics/metrics-listener.ts';
import { openOperatorMeters } from '../../../drivers/operator-metrics/operator-meters.ts';
import { openRunWays } from '../../../drivers/operator-runner/run-ways.ts';
import { keepLease } from '../../../worker/operator/keep-lease.ts';
import { keepWorker } from '../../../worker/operator/keep-workers.ts';
import { listenForOperatorProbes } from '../../../worker/operator/probes.ts';
import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { load } from '../watches/entries.ts';

const quiet = { warn: () => undefined, info: () => undefined };
const WIDGET = { group: 'demo.io', version: 'v1', kind: 'Widget' };

describe('a lease', () => {
  test('that nobody hears of is lost once, and held again after the next sign that is heard', async () => {
    let isAway = false;
    let passed = 0;
    let lost = 0;
    let signs = 0;
    let unheard = 0;
    const stop = keepLease({
      sign: async () => {
        if (isAway) {
          unheard += 1;
          throw new Error('away');
        }
        signs += 1;
      },
      lost: async () => {
        lost += 1;
      },
      log: quiet,
      now: () => passed,
      signMs: 10,
      leaseMs: 60,
    });
    await eventually('signs', () => signs > 3);
    expect(lost).toBe(0);
    isAway = true;
    await eventually('it is not heard', () => unheard > 1);
    expect(lost).toBe(0);
    passed += 60;
    await eventually('it is lost', () => lost === 1);
    const since = unheard;
    await eventually('it is not heard for long', () => unheard > since + 3);
    expect(lost).toBe(1);
    isAway = false;
    const before = signs;
    await eventually('it is heard again', () => signs > before);
    isAway = true;
    passed += 60;
    await eventually('it is lost again', () => lost === 2);
    await stop();
  });

  test('is lost as well where a sign hangs', async () => {
    let lost = 0;
    const stop = keepLease({
      sign: () => new Promise(() => undefined),
      lost: async () => {
        lost += 1;
      },
      log: quiet,
      signMs: 10,
      leaseMs: 40,
    });
    await eventually('it is lost', () => lost === 1);
    await stop();
  });
});

describe('a lease of a process that stood still', () => {
  test('is lost before its next sign, though that is heard', async () => {
    let passed = 0;
    const order: string[] = [];
    const stop = keepLease({
      sign: async () => void order.push('sign'),
      lost: async () => void order.push('lost'),
      log: quiet,
      now: () => passed,
      signMs: 10,
      leaseMs: 60,
    });
    await eventually('signs', () => order.length > 2);
    expect(order).not.toContain('lost');
    passed += 61;
    await eventually('it is lost', () => order.includes('lost'));
    // At most one sign was under way by then; none more comes before it.
    const before = order.length;
    await eventually('signs', () => order.length > before + 2);
    expect(order.filter((word) => word === 'lost')).toHaveLength(1);
    await stop();
  });
});

test('a sign that was not taken is followed by another one soon, not at the usual pace', async () => {
  let signs = 0;
  const stop = keepLease({
    sign: async () => {
      signs += 1;
      if (signs < 3) throw new Error('away');
    },
    lost: async () => undefined,
    log: quiet,
    signMs: 60_000,
    leaseMs: 120_000,
  });
  await eventually('it is taken', () => signs === 3);
  await stop();
});

describe('a worker that Temporal refuses', () => {
  const worker = (run: () => Promise<void>) => {
    const stopped = Promise.withResolvers<void>();
    let state: 'INITIALIZED' | 'RUNNING' | 'FAILED' | 'STOPPED' = 'INITIALIZED';
    const made = {
      run: async () => {
        state = 'RUNNING';
        await Promise.race([
          run().catch((error: unknown) => {
            state = 'FAILED';
            throw error;
          }),
          stopped.promise,
        ]);
        state = 'STOPPED';
      },
      shutdown: () => stopped.resolve(),
      getState: () => state,
    };
    return made;
  };
  const refused = () => worker(() => Promise.reject(new Error('namespace not found')));
  const working = () => worker(() => new Promise(() => undefined));

  test('is followed by another one, until the process stops', async () => {
    const next = [refused(), working()];
    const kept = keepWorker(refused(), async () => next.shift() ?? working(), quiet);
    await eventually('the third one works', () => kept.isRunning() && next.length === 0);
    kept.shutdown();
    await kept.done;
    expect(kept.isRunning()).toBe(false);
  });

  test('while the process stops has none that stays', async () => {
    const made = Promise.withResolvers<ReturnType<typeof working>>();
    const kept = keepWorker(refused(), () => made.promise, quiet);
    await eventually('it was refused', () => !kept.isRunning());
    kept.shutdown();
    made.resolve(working());
    await kept.done;
  });
});

describe('ways of runs', () => {
  const [entry] = load('[{group: demo.io, version: v1, kind: Widget, playbook: pb.yml}]').entries;
  const owner = { apiVersion: 'demo.io/v1', kind: 'Widget', name: 'w', uid: 'u', namespace: 'ns' };
  const opened = (live: AdmittedRun[] = [], runsDir = mkdtempSync(join(tmpdir(), 'muster-ways-'))) => {
    const calls: string[] = [];
    const kept = new Map<string, AdmittedRun>();
    const ways = openRunWays({
      runsDir,
      proxy: {
        ...{ port: 8888, ca: 'CA' },
        admit: ({ runId }) => void calls.push(`admit ${runId}`),
        end: (runId) => void calls.push(`end ${runId}`),
        cutAll: () => void calls.push('cut all'),
      },
      kept: {
        keep: async (run) => void kept.set(run.runId, run),
        forget: async (runId) => void kept.delete(runId),
      },
      live,
      ended: async (runId) => void calls.push(`ended ${runId}`),
    });
    return { ways, calls, kept, runsDir };
  };

  test('keep the hash of a password and not the password, until the run is over', async () => {
    if (entry === undefined) throw new Error('no entry');
    const { ways, calls, kept, runsDir } = opened();
    const { password, kubeconfig } = await ways.open({ runId: 'r1', owner, entry });
    expect(kubeconfig).toContain(password);
    expect(JSON.stringify([...kept.values()])).not.toContain(password);
    expect(kept.get('r1')?.passwordHash).toMatch(/^[0-9a-f]{64}$/);
    await ways.close('r1');
    expect([...kept.keys()]).toEqual([]);
    expect(calls).toEqual(['admit r1', 'end r1', 'ended r1']);
    rmSync(runsDir, { recursive: true, force: true });
  });

  test('are cut all at once where the process may act no more; the next process knows which', async () => {
    const left = { runId: 'left', owner, passwordHash: 'aa', entry: { ...WIDGET } } as unknown as AdmittedRun;
    const { ways, calls, runsDir } = opened([left]);
    if (entry === undefined) throw new Error('no entry');
    await ways.open({ runId: 'own', owner, entry });
    // Its process was gone for a while.
    expect([await ways.wasAway('left'), await ways.wasAway('own')]).toEqual([true, false]);
    expect(await ways.cutAll()).toEqual(['left', 'own']);
    expect(await ways.cutAll()).toEqual([]);
    expect([await ways.wasAway('own'), await ways.wasAway('other')]).toEqual([true, false]);
    expect(calls).toEqual(['admit left', 'admit own', 'cut all', 'cut all']);
    const next = opened([], runsDir);
    expect([await next.ways.wasAway('own'), await next.ways.wasAway('other')]).toEqual([true, false]);
    rmSync(runsDir, { recursive: true, force: true });
  });
});

describe('probes', () => {
  test('say what is wrong: a start of the process anew is asked for only where it would help', async () => {
    const port = await freePort();
    let trouble: string | null = null;
    let isReady = false;
    const probes = await listenForOperatorProbes(
      { host: '127.0.0.1', port },
      { isReady: () => isReady, trouble: () => trouble },
    );
    const ask = async (path: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`);
      return `${answer.status} ${await answer.text()}`;
    };
    expect(await ask('/healthz')).toBe('200 ok');
    expect(await ask('/readyz')).toBe('503 not ready');
    isReady = true;
    trouble = 'the watch w has given no sign for 181 s';
    expect(await ask('/healthz?verbose')).toBe(`503 ${trouble}`);
    expect(await ask('/readyz')).toBe('200 ok');
    expect(await ask('/')).toBe('404 not found');
    await probes.close();
  });
});

describe('metrics', () => {
  const open = () => openOperatorMeters([WIDGET], { version: '1.2.3', commit: '' });

  test('count what has ended under the names of the reference operator and of controllers', async () => {
    const { meters, registry } = open();
    meters.ended(WIDGET, { outcome: 'ok', seconds: 3, requeues: true });
    meters.ended(WIDGET, { outcome: 'failed', seconds: 40, requeues: false });
    meters.ended(WIDGET, { outcome: 'interrupted', seconds: 1, requeues: false });
    const text = await registry.metrics();
    for (const line of [
      'ansible_operator_build_info{commit="",version="1.2.3"} 1',
      'ansible_operator_reconcile_result{GVK="demo.io/v1, Kind=Widget",result="succeeded"} 1',
      'ansible_operator_reconcile_result_total{GVK="demo.io/v1, Kind=Widget",result="failed"} 1',
      'ansible_operator_reconciles_count{GVK="demo.io/v1, Kind=Widget"} 2',
      'controller_runtime_reconcile_total{controller="widget-v1-controller",result="requeue_after"} 1',
      'controller_runtime_reconcile_total{controller="widget-v1-controller",result="requeue"} 1',
      'muster_operator_database_up 0',
      'muster_operator_watching 0',
    ])
      expect(text.split('\n')).toContain(line);
  });

  test('show when each object was made, until it is gone; an object that was made again stays', async () => {
    const { meters, registry } = open();
    const object = { namespace: 'ns', name: 'w', createdAt: '2026-01-01T00:00:00Z' };
    const line = 'resource_created_at_seconds{name="w",namespace="ns",group="demo.io",version="v1",kind="Widget"}';
    meters.seen(WIDGET, [{ ...object, uid: 'u1' }]);
    expect(await registry.metrics()).toContain(`${line} 1767225600`);
    meters.seen(WIDGET, [{ ...object, uid: 'u2' }]);
    meters.gone(WIDGET, ['u1']);
    expect(await registry.metrics()).toContain(line);
    meters.gone(WIDGET, ['u2', 'unknown']);
    expect(await registry.metrics()).not.toContain(line);
  });

  test('say what the process knows when they are read; a database that fails is down', async () => {
    const { registry, read } = open();
    const kind = 'demo.io/v1, Kind=Widget';
    read({
      work: async () => ({ active: new Map([[kind, 2]]), due: new Map([[kind, 5]]) }),
      isEngineUp: async () => true,
      isWatching: () => true,
      watches: () => new Map<WatchState, number>([['failing', 1]]),
    });
    const lines = (await registry.metrics()).split('\n');
    expect(lines).toContain('controller_runtime_active_workers{controller="widget-v1-controller"} 2');
    expect(lines).toContain('workqueue_depth{name="widget-v1-controller"} 5');
    expect(lines).toContain('muster_operator_engine_up 1');
    expect(lines).toContain('muster_operator_watching 1');
    expect(lines).toContain('muster_operator_watches{state="failing"} 1');
    expect(lines).toContain('muster_operator_watches{state="watching"} 0');
    read({
      work: async () => {
        throw new Error('away');
      },
      isEngineUp: async () => false,
      isWatching: () => false,
      watches: () => new Map(),
    });
    expect(await registry.metrics()).toContain('muster_operator_database_up 0');
  });

  test('are answered at /metrics alone, and a taken port is told', async () => {
    const taken = createServer();
    const port = await freePort();
    await once(taken.listen(port, '127.0.0.1'), 'listening');
    await expect(listenForMetrics({ host: '127.0.0.1', port }, open().registry)).rejects.toThrow(/EADDRINUSE/);
    taken.close();
    await once(taken, 'close');
    const listener = await listenForMetrics({ host: '127.0.0.1', port }, open().registry);
    const ask = (path: string, method = 'GET') => fetch(`http://127.0.0.1:${port}${path}`, { method });
    expect((await ask('/metrics')).headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect((await ask('/metrics', 'POST')).status).toBe(405);
    expect((await ask('/')).status).toBe(404);
    await listener.close();
  });
});
