/** The workflows as Temporal knows them: names that histories and Schedules have. */
export const WORKFLOWS = {
  appContext: 'appContextWorkflow',
  batcher: 'batcherWorkflow',
  clusterGroups: 'clusterGroupsWorkflow',
  endRun: 'endRunWorkflow',
  ensureBatcher: 'ensureBatcherWorkflow',
  ensureHardwareSync: 'ensureHardwareSyncWorkflow',
  expireSessions: 'expireSessionsWorkflow',
  hardwareSync: 'hardwareSyncWorkflow',
  imageJob: 'imageJobWorkflow',
  operatorDispatcher: 'operatorDispatcherWorkflow',
  operatorReconcile: 'operatorReconcileWorkflow',
  plan: 'planExecutionWorkflow',
  renewTrust: 'renewTrustWorkflow',
  scheduleRun: 'scheduleRunWorkflow',
  session: 'sessionWorkflow',
  sweep: 'sweepWorkflow',
  sweepImages: 'sweepImagesWorkflow',
  syncRepository: 'syncRepositoryWorkflow',
  wakeWebhooks: 'wakeWebhooksWorkflow',
  webhook: 'webhookWorkflow',
} as const;

export type WorkflowName = (typeof WORKFLOWS)[keyof typeof WORKFLOWS];
