/** The settings of Muster's processes: the ingest port, what is kept and shown, the work of a worker. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { baseUrl, bytes, hostAndPort, port } from './variable-forms.ts';

export const PROCESS_VARIABLES = {
  MUSTER_INGEST_PORT: port.optional().meta({
    description: 'Port that takes in runs executed elsewhere, each by a token of its own.',
    fallback: 'no port is opened',
    change: 'Set it for runs as Jobs or on other machines.',
  }),
  MUSTER_INGEST_HOST: z.string().min(1).default('127.0.0.1').meta({
    description: 'Address of the ingest port.',
    change: 'Set it when pods deliver there; the port then needs TLS or a network of its own.',
  }),
  MUSTER_INGEST_SPOOL: z.coerce.number().int().min(0).default(3_600).meta({
    description: "How long the token of a run is good after the run's end, for what a runner could not deliver before.",
    unit: 's',
    change: 'Raise it when runners can be cut off for longer.',
  }),
  MUSTER_IMPORT_TOKEN: z.string().min(1).optional().meta({
    description: 'Token of the CFS that `muster import` reads. Only the command line reads it.',
    change: 'Set it when that CFS asks for a token.',
  }),
  MUSTER_AUDIT_DAYS: z.coerce.number().int().min(1).max(36_500).default(90).meta({
    description: 'How long audit records are kept.',
    unit: 'days',
    change: 'Set it by the rules of the site.',
  }),
  MUSTER_AUDIT_ROWS: z.coerce.number().int().min(1_000).default(10_000_000).meta({
    description: 'Audit records that are kept at most, the newest. A million takes about 0.5 GiB.',
    unit: 'records',
    change: 'Set it by the room of the database.',
  }),
  MUSTER_MIN_FREE: bytes.default(2 ** 30).meta({
    description:
      'Free disk below which no session is admitted, and no image is taken in or worked on. Open image jobs ' +
      'then end, the largest first.',
    unit: 'bytes',
    change: 'Raise it when other programs fill the same disk.',
  }),
  MUSTER_CACHE_DIR: z
    .string()
    .min(1)
    .default(join(homedir(), '.cache', 'muster'))
    .meta({
      description: 'Folder of downloads and builds, shared by all checkouts.',
      fallback: '`~/.cache/muster`',
      change: 'Set it when the home directory is small or not writable.',
    }),
  MUSTER_TRACES_URL: baseUrl.optional().meta({
    description: 'Base URL of an OpenTelemetry collector (OTLP over HTTP).',
    fallback: 'nothing is traced',
    change: 'Set it when the site collects traces.',
  }),
  MUSTER_TEMPORAL_METRICS: hostAndPort.optional().meta({
    description: "`host:port` on which the worker shows the metrics of Temporal's SDK to Prometheus.",
    change: 'Set it when the site collects metrics.',
  }),
  MUSTER_WORKER_ROLE: z
    .enum(['all', 'images', 'sessions'])
    .default('all')
    .meta({
      description:
        'What a worker does. `images`: only the work on images of its machine. `sessions`: all but that work. ' +
        '`all`: everything.',
      change: 'Set it when the work on images has a worker of its own.',
    }),
  MUSTER_WORKER_PROBES: hostAndPort.optional().meta({
    description: '`host:port` at which the worker answers `/livez` and `/readyz`.',
    change: 'Set it when a supervisor probes the worker.',
  }),
  MUSTER_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info').meta({
    description: 'Least severe level that processes log until the option `logging_level` is read.',
    change: 'Set `debug` to see more of a start.',
  }),
};
