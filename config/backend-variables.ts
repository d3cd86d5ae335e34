/** The settings of the servers below Muster: ARA, the stores of secrets and ConfigMaps, Postgres and Temporal. */
import { z } from 'zod';
import { baseUrl, flag, port } from './variable-forms.ts';

/** What is not escaped in a password ends up in another part of the URL; sockets of this machine have none. */
function isDatabaseUrl(value: string): boolean {
  if (/^(socket:|\/)/.test(value)) return true;
  const url = URL.parse(value);
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) return false;
  return url.hash === '' && !`${url.pathname}${url.search}`.includes('@');
}

export const BACKEND_VARIABLES = {
  MUSTER_ARA_URL: baseUrl.optional().meta({
    description: 'Base of links to ARA in CFS records.',
    fallback: "the API's own pages",
    change: 'Set it when links should lead to an ARA server of the site.',
  }),
  MUSTER_ARA_SERVER_URL: baseUrl
    .refine((value) => new URL(value).username === '', 'must hold no credentials: use MUSTER_ARA_CREDENTIALS_FILE')
    .optional()
    .meta({
      description: 'Base URL of an ARA server to which runs report as well. It holds no credentials.',
      change: 'Set it when the site has an ARA server.',
    }),
  MUSTER_ARA_CREDENTIALS_FILE: z.string().min(1).optional().meta({
    description: 'JSON file with `username` and `password` for the ARA server.',
    change: 'Set it when that server asks for them.',
  }),
  MUSTER_SECRETS: z
    .enum(['database', 'kubernetes'])
    .default('database')
    .meta({
      description:
        'Where secrets are. `database`: in Postgres, encrypted with a key of the data directory. `kubernetes`: as ' +
        'Secrets.',
      change: 'Set `kubernetes` when the site keeps secrets in its cluster.',
    }),
  MUSTER_CONFIGMAPS: z
    .enum(['directory', 'kubernetes'])
    .default('directory')
    .meta({
      description:
        'Where ConfigMaps are. `directory`: in the data directory. `kubernetes`: in the cluster, which Muster ' +
        'only reads.',
      change: 'Set `kubernetes` when the site keeps ConfigMaps in its cluster.',
    }),
  MUSTER_SECRETS_NAMESPACE: z
    .string()
    .min(1)
    .default('muster')
    .meta({
      description:
        'Namespace of Secrets and ConfigMaps that are in a cluster. It must exist. The cluster is that of ' +
        '`KUBECONFIG`, or the cluster that Muster runs in.',
      change: 'Set it when they are in another namespace.',
    }),
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
    }),
  MUSTER_POSTGRES_PORT: port.optional().meta({
    description: 'Port of the embedded Postgres.',
    fallback: 'API port + 1',
    change: 'Set it when another program has the port.',
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
  MUSTER_TEMPORAL_PORT: port.optional().meta({
    description: 'Port of the embedded Temporal server.',
    fallback: 'API port + 2',
    change: 'Set it when another program has the port.',
  }),
  MUSTER_TEMPORAL_UI_PORT: port.optional().meta({
    description: "Port of the embedded Temporal server's web UI, at an address of 127.0.0.0/8 that each start draws.",
    fallback: 'API port + 3',
    change: 'Set it when another program has the port.',
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
  }),
  MUSTER_TEMPORAL_TLS_CA: z.string().optional().meta({
    description: 'PEM file with the CA of the Temporal server. It turns TLS on.',
    change: 'Set it when that CA is not a public one.',
  }),
  MUSTER_TEMPORAL_TLS_CERT: z.string().optional().meta({
    description: 'PEM file with the client certificate for the Temporal server. It turns TLS on.',
    change: 'Set it, with its key, when the server asks for one.',
  }),
  MUSTER_TEMPORAL_TLS_KEY: z.string().optional().meta({
    description: 'PEM file with the key of the client certificate for the Temporal server.',
    change: 'Set it together with `MUSTER_TEMPORAL_TLS_CERT`.',
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
    }),
  MUSTER_TEMPORAL_TLS: flag.optional().meta({
    description: 'Turns TLS to Temporal on without any file.',
    fallback: 'on with a CA, a client certificate or an API key',
    change: 'Set it when a public CA signed the certificate of the server.',
  }),
  MUSTER_TEMPORAL_BINARY: z.string().optional().meta({
    description: 'Path of the `temporal` program for the embedded server.',
    fallback: 'found or installed',
    change: 'Set it when the program must not be installed from the network.',
  }),
};
