import { controller, type ErrorTable, kind } from '../error-kind.ts';

/** Faults of Muster itself, and of the servers below it. */
export const SERVICE_ERRORS = {
  storage_unavailable: controller(503, 'Service Unavailable', 7, {
    retryable: true,
    advice: 'the API cannot reach Postgres; `./muster status` says more',
  }),
  engine_unavailable: controller(503, 'Service Unavailable', 7, {
    retryable: true,
    advice: 'the API cannot reach Temporal; `./muster status` says more',
  }),
  internal: controller(500, 'Internal Server Error', 1, { retryable: true }),
  payload_refused: controller(502, 'Refused', 1),
  mac_key_unusable: kind(500, 'Key of another installation', 1),
  cluster_unavailable: controller(503, 'Cluster is not available', 7, { retryable: true }),
  cluster_refused: controller(400, 'Cluster refused', 1),
  rehearsal_unsupported: kind(400, 'No dry run', 2, {
    advice: '`--dry-run=request` shows the request and sends nothing',
  }),
  rehearsal_busy: kind(503, 'Service Unavailable', 7, {
    retryable: true,
    advice: 'others write the same records, or the dry run takes too long; try again, or choose fewer records',
  }),
  disk_low: controller(503, 'Disk space is low', 1, { retryable: true }),
} satisfies ErrorTable;
