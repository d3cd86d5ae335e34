import { WORKFLOWS } from '../../domain/engine/workflow-names.ts';
import type { WantedWorkflow } from '../temporal/tell.ts';

/** A renewal of what sessions show to hosts. */
export function wantedRenewal(): WantedWorkflow {
  return {
    workflowType: WORKFLOWS.renewTrust,
    workflowId: 'trust',
    args: [],
    staticSummary: 'renews the certificate with which sessions log in at hosts',
  };
}
