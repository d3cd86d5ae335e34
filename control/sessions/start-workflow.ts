import type { Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { maskAddress } from '../../domain/configurations/address-secrets.ts';
import { MAIN_QUEUE } from '../../domain/engine/task-queues.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { sessionWorkflowId } from '../../domain/sessions/workflow-id.ts';
import type { SessionRow } from '../../store/sessions/sessions.ts';
import { startOnce } from '../temporal/start-once.ts';

const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);
const CONFIGURATION = keyword('MusterConfiguration');
const TARGET = keyword('MusterTarget');
const STATUS = keyword('MusterStatus');
const BATCH = keyword('MusterBatch');

/** What Temporal takes as summary and as details of a workflow, in bytes, less the quotes and escapes of JSON. */
const SUMMARY_MAX = 300;
const DETAILS_MAX = 15_000;

/**
 * Starts the session's workflow, once: however often it is called, and however that workflow ended. One that was ended
 * from outside is not started again, the sweep ends its session.
 */
export async function startSessionWorkflow(client: Client, session: SessionRow): Promise<void> {
  const limit = session.ansible_limit ? `, limit ${session.ansible_limit.slice(0, 60)}` : '';
  const batch = session.tags['muster.batch'];
  await startOnce(client, WORKFLOWS.session, {
    workflowId: sessionWorkflowId(session),
    taskQueue: MAIN_QUEUE,
    args: [{ sessionId: session.id }],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    staticSummary: cut(`${session.configuration_name} on ${session.target.definition}${limit}`, SUMMARY_MAX),
    staticDetails: cut(describe(session), DETAILS_MAX),
    typedSearchAttributes: [
      { key: CONFIGURATION, value: session.configuration_name.slice(0, 255) },
      { key: TARGET, value: session.target.definition },
      { key: STATUS, value: 'pending' },
      ...(batch ? [{ key: BATCH, value: batch.slice(0, 255) }] : []),
    ],
  });
}

/** The text's beginning in at most `max` bytes. */
function cut(text: string, max: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= max
    ? text
    : bytes
        .subarray(0, max)
        .toString('utf8')
        .replace(/\ufffd+$/, '');
}

function describe(session: SessionRow): string {
  const layers = session.snapshot.layers
    .slice(0, 20)
    .map(
      (layer) =>
        `${layer.index + 1}. \`${layer.playbook}\` of ${maskAddress(layer.url)} at ${layer.commit ?? 'its default branch'}`,
    );
  return [
    `Session **${session.name}** of configuration **${session.configuration_name}**`,
    `made ${session.created_at.toISOString()}${session.actor ? ` by ${session.actor}` : ''}`,
    '',
    ...layers,
  ].join('\n');
}
