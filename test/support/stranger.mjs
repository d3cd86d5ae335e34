/**
 * What a user of the machine without any right in Muster may try, by the embedded Temporal alone: finds a machine's queue in a history, asks
 * there for work, and speaks to a workflow. usage: stranger.mjs ADDRESS WORKFLOW-ID JSON; prints a line for each try.
 */
import { Client, Connection } from '@temporalio/client';

const [address, workflowId, given] = process.argv.slice(2);
const { calls, signals, updates } = JSON.parse(given);
const client = new Client({ connection: await Connection.connect({ address }) });
const { workflowService } = client;
const namespace = 'default';
const payload = (value) => ({
  metadata: { encoding: Buffer.from('json/plain') },
  data: Buffer.from(JSON.stringify(value)),
});
const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
const queue = events
  .map((event) => event.activityTaskScheduledEventAttributes?.taskQueue?.name)
  .find((name) => name?.startsWith('muster-host-'));
const own = `stranger-${process.pid}`;

for (const [activity, ...args] of calls) {
  const handle = await client.workflow.start('anybody', {
    workflowId: `${own}-${activity}-${Date.now()}`,
    taskQueue: own,
  });
  const poll = () =>
    client.withDeadline(Date.now() + 60_000, () =>
      workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: own } }),
    );
  const { taskToken } = await poll();
  const attributes = {
    activityId: '1',
    activityType: { name: activity },
    taskQueue: { name: queue },
    input: args.length === 0 ? null : { payloads: args.map(payload) },
    startToCloseTimeout: { seconds: 30 },
    scheduleToCloseTimeout: { seconds: 60 },
  };
  const commands = [{ commandType: 1, scheduleActivityTaskCommandAttributes: attributes }];
  await workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, commands });
  const { history } = await poll();
  const failed = history.events.find((event) => event.activityTaskFailedEventAttributes);
  console.log(activity, failed?.activityTaskFailedEventAttributes.failure.applicationFailureInfo.type ?? 'done');
  await handle.terminate();
}
for (const signal of signals) {
  await client.workflow.getHandle(workflowId).signal(signal);
  console.log(signal, 'said');
}
for (const [update, ...args] of updates) {
  const answer = await client.workflow
    .getHandle(workflowId)
    .executeUpdate(update, { args })
    .then(
      () => 'done',
      (error) => error.cause?.type ?? error.message,
    );
  console.log(update, answer);
}
await client.connection.close();
