/** A session that was told so often that its workflow takes no more signals. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { endSession } from '../../../control/sessions/end-session.ts';
import { startSessionWorkflow } from '../../../control/sessions/start-workflow.ts';
import { wakeAllLeaseWaiters } from '../../../control/sessions/wake-lease-waiters.ts';
import { sessionWorkflowId } from '../../../domain/sessions/workflow-id.ts';
import { createTestDatabase, type TestDatabase } from '../../support/postgres/test-database.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { makeSession } from '../../support/temporal/engine-sessions.ts';
import { temporalMissing } from '../../support/temporal/temporal-binary.ts';
import { openDevServer, type TestServer } from '../../support/temporal/workflow-environment.ts';

describeNeeding(temporalMissing(), 'a session that takes no more signals', () => {
  let server: TestServer;
  let database: TestDatabase;
  beforeAll(async () => {
    [server, database] = await Promise.all([
      openDevServer(['history.maximumSignalsPerExecution=1']),
      createTestDatabase(),
    ]);
  });
  afterAll(async () => {
    await database?.close();
    await server?.close();
  });

  test('keeps none of the others from being told, and no session from its end', async () => {
    const { db } = database;
    const { client } = server.environment;
    const [full, next, ends] = [await makeSession(db), await makeSession(db), await makeSession(db)];
    for (const session of [full, next]) await startSessionWorkflow(client, session);
    await db.updateTable('sessions').set({ stage: 'admitted', status: 'running' }).execute();
    const wait = (id: string, component: string) => ({ session_id: id, component_id: component, yielded: false });
    await db
      .insertInto('lease_requests')
      .values([wait(full.id, 'a'), wait(next.id, 'b')])
      .execute();
    await client.workflow.getHandle(sessionWorkflowId(full)).signal('leasesFree');

    await wakeAllLeaseWaiters({ db, client });
    const { events } = await client.workflow.getHandle(sessionWorkflowId(next)).fetchHistory();
    expect(events?.filter((event) => event.workflowExecutionSignaledEventAttributes)).toHaveLength(1);
    // Now neither takes one.
    await expect(
      endSession({ db, client, clock: () => new Date() }, ends.id, {
        succeeded: 'true',
        message: 'done',
        reason: null,
      }),
    ).resolves.toMatchObject({ succeeded: 'true' });
  });
});
