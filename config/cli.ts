/** The settings of the command line alone. */
import { z } from 'zod';

export const cli = {
  settings: {
    MUSTER_URL: z.url().optional().meta({
      description: 'API that the command line talks to. Only the command line reads it.',
      fallback: 'port `MUSTER_API_PORT` of this machine, where it is set, else the stack of the data directory',
      change: 'Set it for the API of another machine.',
    }),
    MUSTER_TOKEN: z.string().min(1).optional().meta({
      description: 'Token that the command line sends. Only the command line reads it.',
      fallback: 'the token of the stack of this machine',
      change: 'Set it for an API with `MUSTER_AUTH=token`.',
      secret: true,
    }),
    MUSTER_TOKEN_FILE: z.string().min(1).optional().meta({
      description: 'File with the token that the command line sends. Only the command line reads it.',
      fallback: 'the token of the stack of this machine',
      change: 'Set it in place of `MUSTER_TOKEN`.',
    }),
    MUSTER_IMPORT_TOKEN: z.string().min(1).optional().meta({
      description: 'Token of the CFS that `muster import` reads. Only the command line reads it.',
      change: 'Set it when that CFS asks for a token.',
      secret: true,
    }),
  },
};
