/** Entry of the workflow bundle: everything that Temporal may start by name. */

export { batcherWorkflow } from './batches/batcher.workflow.ts';
export { ensureBatcherWorkflow } from './batches/ensure-batcher.workflow.ts';
export { ensureHardwareSyncWorkflow } from './components/ensure-hardware-sync.workflow.ts';
export { hardwareSyncWorkflow } from './components/hardware-sync.workflow.ts';
export { appContextWorkflow } from './deployments/app-context.workflow.ts';
export { clusterGroupsWorkflow } from './deployments/cluster-groups.workflow.ts';
export { imageJobWorkflow } from './images/image-job.workflow.ts';
export { sweepImagesWorkflow } from './images/sweep-images.workflow.ts';
export { operatorDispatcherWorkflow } from './operator/operator-dispatcher.workflow.ts';
export { operatorReconcileWorkflow } from './operator/operator-reconcile.workflow.ts';
export { planExecutionWorkflow } from './propagation/plan.workflow.ts';
export { syncRepositoryWorkflow } from './propagation/sync-repository.workflow.ts';
export { endRunWorkflow } from './runs/end-run.workflow.ts';
export { scheduleRunWorkflow } from './schedules/schedule-run.workflow.ts';
export { expireSessionsWorkflow } from './sessions/expire-sessions.workflow.ts';
export { sessionWorkflow } from './sessions/session.workflow.ts';
export { sweepWorkflow } from './sessions/sweep.workflow.ts';
export { renewTrustWorkflow } from './trust/renew-trust.workflow.ts';
export { wakeWebhooksWorkflow } from './webhooks/wake-webhooks.workflow.ts';
export { webhookWorkflow } from './webhooks/webhook.workflow.ts';
