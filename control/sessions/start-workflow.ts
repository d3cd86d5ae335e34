import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { MAIN_QUEUE } from '../../domain/sessions/task-queues.ts';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import type { SessionRow } from '../../store/session-engine.ts';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const CONFIGURATION = keyword('MusterConfiguration');
const TARGET = keyword('MusterTarget');
const STATUS = keyword('MusterStatus');
const BATCH = keyword('MusterBatch');

/**
 * Starts the session's workflow unless it runs or has completed; a workflow that was terminated or timed out may be
 * started again (the sweep decides whether that is right).
 */
export async function startSessionWorkflow(client: Client, session: SessionRow): Promise<void> {
  const limit = session.ansible_limit ? `, limit ${session.ansible_limit.slice(0, 60)}` : '';
  const batch = session.tags['muster.batch'];
  try {
    await client.workflow.start('sessionWorkflow', {
      workflowId: sessionWorkflowId(session),
      taskQueue: MAIN_QUEUE,
      args: [{ sessionId: session.id }],
      workflowIdReusePolicy: 'ALLOW_DUPLICATE_FAILED_ONLY',
      workflowIdConflictPolicy: 'FAIL',
      staticSummary: `${session.configuration_name} on ${session.target.definition}${limit}`.slice(0, 190),
      staticDetails: describe(session),
      typedSearchAttributes: [
        { key: CONFIGURATION, value: session.configuration_name.slice(0, 255) },
        { key: TARGET, value: session.target.definition },
        { key: STATUS, value: 'pending' },
        ...(batch ? [{ key: BATCH, value: batch.slice(0, 255) }] : []),
      ],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

function describe(session: SessionRow): string {
  const layers = session.snapshot.layers
    .slice(0, 20)
    .map((layer) => `${layer.index}. \`${layer.playbook}\` of ${layer.url} at ${layer.commit ?? 'its default branch'}`);
  return [
    `Session **${session.name}** of configuration **${session.configuration_name}**`,
    `made ${session.created_at.toISOString()}${session.actor ? ` by ${session.actor}` : ''}`,
    '',
    ...layers,
  ].join('\n');
}
