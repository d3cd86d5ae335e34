import { startTestWorker } from '../../stack/session-bench.ts';
import { type TestServer, workflowBundle } from '../workflow-environment.ts';
import type { Histories } from './recorded.ts';

/** The renewal of what sessions show to hosts. */
async function trust({ environment }: TestServer): Promise<string> {
  const taskQueue = 'test-trust';
  const stop = await startTestWorker(environment, {
    taskQueue,
    workflowBundle: await workflowBundle(),
    activities: { renewTrust: async () => ({ validBefore: '2026-11-21T22:00:00.000Z', published: true }) },
  });
  const start = { workflowId: 'trust', taskQueue, args: [] };
  const handle = await environment.client.workflow.start('renewTrustWorkflow', start);
  await handle.result();
  await stop();
  return handle.workflowId;
}

export const TRUST_HISTORIES: Histories = { trust };
