/** Entry of the workflow bundle: everything that Temporal may start by name. */
export { renewTrustWorkflow } from './components/renew-trust.workflow.ts';
export { expireSessionsWorkflow } from './sessions/expire-sessions.workflow.ts';
export { sessionWorkflow } from './sessions/session.workflow.ts';
export { sweepWorkflow } from './sessions/sweep.workflow.ts';
