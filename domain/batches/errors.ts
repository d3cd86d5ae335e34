import { type ErrorTable, kind } from '../error-kind.ts';

/** Batches and rollouts. */
export const BATCH_ERRORS = {
  batch_not_found: kind(404, 'Batch not found', 3, {
    advice: '`./muster batch list --all` shows the batches of the last 7 days',
  }),
  batch_key_not_found: kind(404, 'Batch key not found', 3, { advice: '`./muster batch list --keys` shows the keys' }),
  rollout_not_found: kind(404, 'Rollout not found', 3, { advice: '`./muster rollout list` shows the rollouts' }),
  rollout_not_running: kind(409, 'Rollout is not running', 5),
  rollout_not_stopped: kind(409, 'Rollout is not stopped', 5),
} satisfies ErrorTable;
