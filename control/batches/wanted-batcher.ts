import { BATCHER_WORKFLOW_ID } from '../../domain/batches/workflow-id.ts';
import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import { pokeBatcher } from '../../workflows/batches/messages.ts';
import type { WantedWorkflow } from '../temporal/tell.ts';

/** The batcher, which is always to run. */
export function wantedBatcher(): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.batcher,
    workflowId: BATCHER_WORKFLOW_ID,
    args: [],
    staticSummary: 'configures what is behind, in batches',
  };
}

/** The batcher with a pass at once. */
export function pokedBatcher(): WantedWorkflow {
  return { ...wantedBatcher(), signal: pokeBatcher };
}
