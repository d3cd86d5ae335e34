/** The settings of the API's server. */
import { z } from 'zod';
import { baseUrl, bytes, list, port } from './forms.ts';

export const api = {
  settings: {
    MUSTER_API_HOST: z.string().min(1).default('127.0.0.1').meta({
      description: 'Address on which the API listens.',
      change: 'Set it when other machines use the API; Muster then wants `MUSTER_AUTH=token` or a gateway.',
    }),
    MUSTER_PUBLIC_URL: baseUrl.optional().meta({
      description: 'Base of links to this API in answers. Its host is allowed.',
      fallback: "the API's own address",
      change: 'Set it when the API listens on all addresses or behind a gateway.',
    }),
    MUSTER_API_PORT: port.default(8100).meta({
      description: 'Port of the API. The embedded servers take the next ports.',
      change: 'Set it when another program has the port.',
    }),
    MUSTER_API_PREFIXES: z
      .string()
      .default(',/apis/cfs')
      .transform((value) => value.split(','))
      .meta({
        description: 'Path prefixes of the CFS routes, with commas between them; an empty one is the root.',
        change: 'Set it when a gateway hands on another prefix.',
      }),
    MUSTER_ALLOWED_HOSTS: list.default([]).meta({
      description:
        'Host names to which the API answers, besides loopback names and its own address, with commas between them.',
      fallback: 'no further name',
      change: 'Set it when clients reach the API by a further name.',
    }),
    MUSTER_MAX_BODY: bytes.default(64 * 2 ** 20).meta({
      description: 'Largest request body. The default holds a bulk PUT of 100,000 components.',
      unit: 'bytes',
      change: 'Raise it for larger bulk requests.',
    }),
    MUSTER_MAX_REQUESTS: z.coerce
      .number()
      .int()
      .min(1)
      .default(16)
      .meta({
        description:
          'Requests of single records on which one API process works at the same time. Other requests wait for a ' +
          'moment, or get 503.',
        unit: 'requests',
        change: 'Raise it with the cores of the database; without more cores it only makes each request slower.',
      }),
  },
};
