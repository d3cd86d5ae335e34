/** Revisions by which topics know that something has changed. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type RawBuilder, sql } from 'kysely';
import { readAccessRevision } from '../../store/access/revisions.ts';
import { readAuditRevision } from '../../store/audit/revisions.ts';
import { readBatchesRevision, readRolloutsRevision } from '../../store/batches/revisions.ts';
import { readOptionsRevision, readSourcesRevision } from '../../store/configurations/revisions.ts';
import { newestRows } from '../../store/connection/newest-rows.ts';
import { readDeploymentRevision, readDeploymentsRevision } from '../../store/deployments/revisions.ts';
import { readImagesRevision } from '../../store/images/revisions.ts';
import { readOperatorsRevision, readReconcileRevision, readResourceRevision } from '../../store/operator/revisions.ts';
import { readAttemptRevision, readPlanRevision, readPlansRevision } from '../../store/propagation/revisions.ts';
import { readDriftRevision, readSchedulesRevision } from '../../store/schedules/revisions.ts';
import { readWebhooksRevision } from '../../store/webhooks/revisions.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';

const NOW = new Date('2026-11-21T10:00:20Z');
const later = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const [ID, OTHER] = ['01234567-89ab-4cde-8f01-23456789abcd', '11234567-89ab-4cde-8f01-23456789abcd'];

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

const run = (statement: RawBuilder<unknown>) => statement.execute(database.db);
/** Expects that each statement makes the revision another one, and that it stays so without one. */
async function expectNews(read: () => Promise<string>, statements: readonly RawBuilder<unknown>[]): Promise<void> {
  let before = await read();
  for (const [index, statement] of statements.entries()) {
    await run(statement);
    const now = await read();
    expect([index, now]).not.toEqual([index, before]);
    expect(await read()).toBe(now);
    before = now;
  }
}

describe('the newest rows', () => {
  const read = async (from: RawBuilder<unknown> = sql`newest_test order by at desc`) => {
    const { rows } = await sql<{ text: string }>`select ${newestRows(from, 3)} as text`.execute(database.db);
    return rows[0]?.text ?? '';
  };
  beforeAll(async () => {
    await run(sql`create table newest_test (id integer primary key, at timestamptz not null, word text)`);
    await run(
      sql`insert into newest_test select n, ${NOW}::timestamptz + make_interval(secs => n) from generate_series(1, 10) n`,
    );
  });

  test('tell of what is made, changed without a new time, and deleted', () =>
    expectNews(read, [
      sql`insert into newest_test values (11, ${later(11)})`,
      sql`update newest_test set word = 'x' where id = 11`,
      sql`delete from newest_test where id = 11`,
    ]));

  test('tell of what commits late with an earlier time', () =>
    expectNews(read, [sql`insert into newest_test values (12, ${later(9.5)})`]));

  test('say nothing of locks, and of rows behind them', async () => {
    const before = await read();
    await run(sql`select from newest_test for update`);
    await run(sql`update newest_test set word = 'old' where id = 1`);
    expect(await read()).toBe(before);
    expect(await read(sql`newest_test where false`)).toBe('');
  });
});

describe('the revision', () => {
  test('of operators differs with processes, watches and resources, and not with each sign of life', async () => {
    const { db } = database;
    const read = (now = NOW) => readOperatorsRevision(db, now);
    await expectNews(read, [
      sql`insert into operators (name, home, version, registered_at) values ('o', 'here', '1', ${NOW})`,
      sql`insert into operator_processes (operator, machine, queue, slots, version, seen_at) values ('o', 'm', 'q', 1, '1', ${NOW})`,
      sql`insert into operator_resources (id, operator, api_group, version, kind, namespace, name, uid, generation, seen_mark, deleting,
        phase, created_at, updated_at) values (${ID}, 'o', 'g', 'v1', 'K', 'n', 'one', 'u', 1, '', false, 'idle', ${NOW}, ${NOW})`,
      sql`update operator_resources set phase = 'running' where id = ${ID}`,
      sql`update operators set watcher = 'm', watch_lease_until = ${later(30)} where name = 'o'`,
    ]);
    const before = await read();
    await run(sql`update operators set watch_lease_until = ${later(40)}`);
    await run(sql`update operator_processes set seen_at = ${later(5)}`);
    expect(await read()).toBe(before);
    expect(await read(later(60))).not.toBe(before);
  });

  test('of a resource and of a reconcile differ with it and what it puts out', async () => {
    const { db } = database;
    await expectNews(
      () => readResourceRevision(db, ID, NOW),
      [
        sql`update operator_resources set reason = 'why', due_at = ${NOW} where id = ${ID}`,
        sql`update operators set stopped_at = ${NOW}`,
        sql`update operators set stopped_at = null`,
        sql`insert into operator_reconciles (id, resource_id, operator, machine, cause, started_at) values (${OTHER}, ${ID}, 'o', 'm', '{}', ${NOW})`,
      ],
    );
    await expectNews(
      () => readReconcileRevision(db, OTHER, 'run-of-it'),
      [
        sql`insert into streams (id) values ('run-of-it')`,
        sql`update streams set next_chunk = next_chunk + 1 where id = 'run-of-it'`,
        sql`update operator_reconciles set outcome = 'succeeded', ended_at = ${NOW} where id = ${OTHER}`,
      ],
    );
  });

  test('of plans, of one, and of an attempt', async () => {
    const { db } = database;
    const make = sql`insert into propagation_plans (id, name, state, command, commanded_at, items_limit, type_limits, counts, cycles,
      suppressed, created_at) values (${ID}, 'p', 'running', 'process', ${NOW}, 1, '{}', '{}', '[]', '[]', ${NOW})`;
    const change = sql`update propagation_plans set counts = '{"pending": 1}' where id = ${ID}`;
    await expectNews(() => readPlansRevision(db), [make, change]);
    await expectNews(
      () => readPlanRevision(db, ID),
      [
        sql`update propagation_plans set wish = 'pause' where id = ${ID}`,
        sql`insert into streams (id) values (${ID})`,
        sql`update streams set next_event = next_event + 1 where id = ${ID}`,
        sql`insert into propagation_attempts (id, plan, node, number, state, created_at) values (${OTHER}, ${ID}, 0, 1, 'open', ${NOW})`,
      ],
    );
    await expectNews(
      () => readAttemptRevision(db, OTHER, 'run-of-attempt'),
      [
        sql`update propagation_attempts set machine = 'm' where id = ${OTHER}`,
        sql`insert into streams (id) values ('run-of-attempt')`,
        sql`update streams set next_chunk = next_chunk + 1 where id = 'run-of-attempt'`,
      ],
    );
    expect(await readPlanRevision(db, OTHER)).toBe('');
  });

  test('of deployments, and of one with what is where', async () => {
    const { db } = database;
    const owner = 'projects/p';
    const record = sql`insert into placement_records (path, kind, metadata, spec, created_at, updated_at)
      values (${owner}, 'project', '{}', '{}', ${NOW}, ${NOW})`;
    await expectNews(() => readDeploymentsRevision(db, NOW, 60_000), [record]);
    await expectNews(
      () => readDeploymentRevision(db, owner, NOW, 60_000),
      [
        sql`insert into deployment_actions (owner, number, state, instance, revision, time) values (${owner}, 1, 'Created', '', 1, ${NOW})`,
        sql`insert into deployment_contexts (id, owner, cloud, state, namespace, settings, created_at, wanted_at, changed_at)
          values ('7', ${owner}, '', 'Instantiating', 'n', '{}', ${NOW}, ${NOW}, ${NOW})`,
        sql`update deployment_contexts set state = 'Instantiated' where id = '7'`,
      ],
    );
    await run(sql`insert into context_streams (context) values ('7') on conflict do nothing`);
    await expectNews(
      () => readDeploymentRevision(db, owner, NOW, 60_000),
      [sql`update context_streams set next_event = next_event + 1 where context = '7'`],
    );
    await expectNews(
      () => readDeploymentsRevision(db, NOW, 60_000),
      [
        sql`insert into deployment_actions (owner, number, state, instance, revision, time) values (${owner}, 2, 'Approved', '', 1, ${NOW})`,
        sql`insert into deployment_contexts (id, owner, cloud, state, namespace, settings, created_at, wanted_at, changed_at)
          values ('8', ${owner}, '', 'Instantiating', 'n', '{}', ${NOW}, ${NOW}, ${NOW})`,
        sql`update context_streams set next_event = next_event + 1 where context = '7'`,
      ],
    );
  });

  test('of schedules with their runs, and of drift', async () => {
    const { db } = database;
    await expectNews(
      () => readSchedulesRevision(db),
      [
        sql`insert into schedules (id, name, record, paused, created_at, updated_at) values (${ID}, 's', '{}', false, ${NOW}, ${NOW})`,
        sql`update schedules set sync_error = 'away' where id = ${ID}`,
        sql`insert into schedule_runs (id, schedule_id, scheduled_at, state, by_hand, created_at)
          values (${OTHER}, ${ID}, ${NOW}, 'running', false, ${NOW})`,
        sql`update schedule_runs set state = 'failed', ended_at = ${NOW} where id = ${OTHER}`,
      ],
    );
    await expectNews(
      () => readDriftRevision(db),
      [sql`insert into drift_checks (run_id, made_at) values (${OTHER}, ${NOW})`],
    );
  });

  test('of batches, with the batcher', () =>
    expectNews(
      () => readBatchesRevision(database.db),
      [
        sql`update batcher_state set paused = true`,
        sql`insert into batch_keys (key, last_seen_at) values ('k', ${NOW})`,
      ],
    ));

  test('of access differs with tokens and secrets, and with their use once a minute', async () => {
    const { db } = database;
    const read = () => readAccessRevision(db);
    await expectNews(read, [
      sql`insert into tokens (id, hash, name, role, created_at) values (${ID}, 'h', 't', 'reader', ${NOW})`,
      sql`update tokens set last_used_at = ${NOW} where id = ${ID}`,
      sql`insert into tokens (id, hash, name, role, created_at) values (${OTHER}, 'i', 'u', 'reader', ${later(-60)})`,
    ]);
    const before = await read();
    await run(sql`update tokens set last_used_at = ${later(5)} where id = ${ID}`);
    expect(await read()).toBe(before);
    await expectNews(read, [
      sql`update tokens set last_used_at = ${later(60)} where id = ${ID}`,
      sql`update tokens set revoked_at = ${later(60)} where id = ${ID}`,
      sql`update tokens set revoked_at = ${later(30)} where id = ${OTHER}`,
      sql`insert into secrets (name, key, ciphertext, updated_at) values ('s', 'k', 'c', ${NOW})`,
      sql`update secrets set ciphertext = 'd', updated_at = ${later(1)} where name = 's'`,
      sql`delete from secrets where name = 's'`,
    ]);
  });

  test('of the audit differs with each record, also one that commits late', () =>
    expectNews(
      () => readAuditRevision(database.db),
      [
        sql`insert into audit (at, action, kind, name) values (now(), 'create', 'source', 'one')`,
        sql`insert into audit (at, action, kind, name) values (now() - interval '5 s', 'update', 'source', 'one')`,
      ],
    ));

  test('of images differs with them and with jobs', () =>
    expectNews(
      () => readImagesRevision(database.db),
      [
        sql`insert into images (id, name, arch, created_at, updated_at) values (${ID}, 'i', 'x86_64', ${NOW}, ${NOW})`,
        sql`update images set size = 1, updated_at = ${later(1)} where id = ${ID}`,
        sql`insert into image_jobs (id, image_id, request, arch, public_key, status, store_id, result_id, created_at)
          values (${OTHER}, ${ID}, '{}', 'x86_64', 'k', 'creating', ${OTHER}, ${OTHER}, ${NOW})`,
        sql`update image_jobs set status = 'error' where id = ${OTHER}`,
        sql`delete from images where id = ${ID}`,
      ],
    ));

  test('of webhooks differs with them and with deliveries', () =>
    expectNews(
      () => readWebhooksRevision(database.db),
      [
        sql`insert into webhooks (name, url, events, enabled, allow_private_redirects, created_at, updated_at)
          values ('w', 'https://hooks.example.test/', '{session.ended}', true, false, ${NOW}, ${NOW})`,
        sql`update webhooks set enabled = false, updated_at = ${later(1)} where name = 'w'`,
        sql`insert into notifications (webhook, event, data) values ('w', 'session.ended', '{}')`,
        sql`update notifications set state = 'delivered', delivered_at = now() where webhook = 'w'`,
        sql`delete from webhooks where name = 'w'`,
      ],
    ));

  test('of sources, of options, and of rollouts', async () => {
    const { db } = database;
    await expectNews(
      () => readSourcesRevision(db),
      [
        sql`insert into sources (name, record, updated_at) values ('s', '{}', ${NOW})`,
        sql`update sources set record = '{"description": "x"}', updated_at = ${later(1)} where name = 's'`,
        sql`delete from sources where name = 's'`,
      ],
    );
    await expectNews(
      () => readOptionsRevision(db),
      [
        sql`insert into options (record, updated_at) values ('{}', ${NOW})`,
        sql`update options set record = '{"default_playbook": "main.yml"}'`,
      ],
    );
    await expectNews(
      () => readRolloutsRevision(db),
      [
        sql`insert into rollouts (configuration, version, state, stage, created_at, updated_at) values ('c', '1', 'rolling', '1', ${NOW}, ${NOW})`,
        sql`update rollouts set state = 'stopped', updated_at = ${later(1)} where configuration = 'c'`,
        sql`update rollouts set is_current = false where configuration = 'c'`,
      ],
    );
  });
});
