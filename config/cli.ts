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
    MUSTER_CONTEXT: z.string().min(1).optional().meta({
      description: 'Name of the context that the command line uses. Only the command line reads it.',
      fallback: 'what `muster context use` chose',
      change: 'Set it for a shell that works with another server.',
    }),
    MUSTER_OUTPUT: z.enum(['table', 'wide', 'json', 'jsonl', 'yaml', 'tsv', 'name']).optional().meta({
      description: 'Form of the data where `-o` is absent. Only the command line reads it.',
      fallback: 'that of the context, else `table`',
      change: 'Set it for a shell that wants another form.',
    }),
    MUSTER_TIME: z.enum(['local', 'relative', 'iso']).optional().meta({
      description: 'Form of times in tables where `--time` is absent. Only the command line reads it.',
      fallback: 'that of the context, else `relative` on a terminal and `iso` in a pipe',
      change: 'Set it for a shell that wants another form.',
    }),
    MUSTER_NO_INPUT: z.string().min(1).optional().meta({
      description: 'With any text the command line asks nothing. Only the command line reads it.',
      change: 'Set it where a terminal is there and a question would wait for ever.',
    }),
    MUSTER_IMPORT_TOKEN: z.string().min(1).optional().meta({
      description: 'Token of the CFS that `muster import` reads. Only the command line reads it.',
      change: 'Set it when that CFS asks for a token.',
      secret: true,
    }),
  },
};
