/** The settings of the servers below Muster, Postgres and Temporal, and of what all processes do alike. */
import { z } from 'zod';
import { databaseMistakes } from './database-tls.ts';
import { baseUrl, bytes, flag } from './forms.ts';

/** What is not escaped in a password ends up in another part of the URL; sockets of this machine have none. */
function isDatabaseUrl(value: string): boolean {
  if (/^(socket:|\/)/.test(value)) return true;
  const url = URL.parse(value);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return false;
  return url.hash === '' && !`${url.pathname}${url.search}`.includes('@');
}

const SERVICE_SETTINGS = {
  MUSTER_DATABASE_URL: z
    .string()
    .trim()
    .refine(
      isDatabaseUrl,
      'must be postgres://user:password@host:port/database; in user and password / ? # @ : % are written %2F %3F %23 %40 %3A %25',
    )
    .optional()
    .meta({
      description: 'Address of Postgres. Muster drops a line break at its end.',
      fallback: 'the embedded Postgres',
      change: 'Set it when the site runs Postgres.',
    }),
  MUSTER_DATABASE_CA_FILE: z
    .string()
    .optional()
    .meta({
      description:
        'PEM file with the CA of the Postgres of the site. With it an address that asks for less than a checked ' +
        'certificate is refused.',
      change: 'Set it when that CA is not a public one.',
      path: true,
    }),
  MUSTER_TEMPORAL_ADDRESS: z.string().min(1).optional().meta({
    description: '`host:port` of a Temporal server.',
    fallback: 'the embedded Temporal',
    change: 'Set it when the site runs Temporal.',
  }),
  MUSTER_TEMPORAL_NAMESPACE: z.string().min(1).default('default').meta({
    description: 'Namespace in Temporal.',
    change: "Set it when the site's Temporal serves several programs.",
  }),
  MUSTER_TEMPORAL_RETENTION_DAYS: z.coerce.number().int().min(1).max(365).default(7).meta({
    description:
      'How long a namespace that Muster makes keeps ended workflows. A namespace that exists stays as it is.',
    unit: 'days',
    change: 'Set it before the first start.',
  }),
  MUSTER_TEMPORAL_UI_UPSTREAM: z
    .url({ protocol: /^http$/ })
    .optional()
    .meta({
      description: 'Base URL, with the path `/temporal`, of a Temporal web UI that the API hands on at `/temporal/`.',
      fallback: "the embedded stack's",
      change: "Set it for the web UI of the site's Temporal.",
    }),
  MUSTER_TEMPORAL_UI_URL: z.url().optional().meta({
    description: 'Base of links to the Temporal web UI.',
    fallback: '`/temporal` of the API where it hands one on',
    change: 'Set it when people reach the web UI at another address.',
  }),
  MUSTER_TEMPORAL_API_KEY: z.string().min(1).optional().meta({
    description: 'API key of a Temporal server. It turns TLS on.',
    change: 'Set it when the server asks for a key.',
    secret: true,
  }),
  MUSTER_TEMPORAL_TLS: flag.optional().meta({
    description: 'Turns TLS to Temporal on without any file.',
    fallback: 'on with a CA, a client certificate or an API key',
    change: 'Set it when a public CA signed the certificate of the server.',
  }),
  MUSTER_TEMPORAL_TLS_CA: z.string().optional().meta({
    description: 'PEM file with the CA of the Temporal server. It turns TLS on.',
    change: 'Set it when that CA is not a public one.',
    path: true,
  }),
  MUSTER_TEMPORAL_TLS_CERT: z.string().optional().meta({
    description: 'PEM file with the client certificate for the Temporal server. It turns TLS on.',
    change: 'Set it, with its key, when the server asks for one.',
    path: true,
  }),
  MUSTER_TEMPORAL_TLS_KEY: z.string().optional().meta({
    description: 'PEM file with the key of the client certificate for the Temporal server.',
    change: 'Set it together with `MUSTER_TEMPORAL_TLS_CERT`.',
    path: true,
  }),
  MUSTER_MAC_KEY_FILE: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        'File with the key by which API and workers know what goes through Temporal as their own: at least 32 ' +
        'characters, the same for all processes.',
      fallback: '`mac.key` in the data directory; where secrets are in a cluster, nothing is signed without that file',
      change: 'Set it when API and workers share no data directory.',
      path: true,
    }),
  MUSTER_CA_FILE: z
    .string()
    .optional()
    .meta({
      description:
        "PEM file of the site's CAs, trusted besides the public ones. Database, Temporal, and sources with CAs of " +
        'their own do not use it.',
      change: 'Set it when servers of the site have certificates of a private CA.',
      path: true,
    }),
  MUSTER_MIN_FREE: bytes.default(2 ** 30).meta({
    description:
      'Free disk below which no session is admitted, and no image is taken in or worked on. Open image jobs ' +
      'then end, the largest first.',
    unit: 'bytes',
    change: 'Raise it when other programs fill the same disk.',
  }),
  MUSTER_TRACES_URL: baseUrl.optional().meta({
    description: 'Base URL of an OpenTelemetry collector (OTLP over HTTP).',
    fallback: 'nothing is traced',
    change: 'Set it when the site collects traces.',
  }),
  MUSTER_LOG_LEVEL: z.enum(['debug', 'info', 'warn', 'error']).default('info').meta({
    description: 'Least severe level that processes log until the option `logging_level` is read.',
    change: 'Set `debug` to see more of a start.',
  }),
};

export const service = { settings: SERVICE_SETTINGS, mistakes: databaseMistakes };
