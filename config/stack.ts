/** The settings of the folders of an installation, and of the servers that the embedded stack starts. */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { port } from './forms.ts';

export const stack = {
  settings: {
    MUSTER_DATA_DIR: z.string().min(1).default('.muster').meta({
      description: 'Folder of everything that lasts.',
      change: 'Set it for a folder outside the checkout; two checkouts never share the default.',
    }),
    MUSTER_HOME: z.string().optional().meta({
      description: 'Folder of the checkout, for scripts and units of the site. Muster itself does not read it.',
    }),
    MUSTER_CACHE_DIR: z
      .string()
      .min(1)
      .default(join(homedir(), '.cache', 'muster'))
      .meta({
        description: 'Folder of downloads and builds, shared by all checkouts.',
        fallback: '`~/.cache/muster`',
        change: 'Set it when the home directory is small or not writable.',
        path: true,
      }),
    MUSTER_POSTGRES_PORT: port.optional().meta({
      description: 'Port of the embedded Postgres.',
      fallback: 'API port + 1',
      change: 'Set it when another program has the port.',
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
    MUSTER_TEMPORAL_BINARY: z.string().optional().meta({
      description: 'Path of the `temporal` program for the embedded server.',
      fallback: 'found or installed',
      change: 'Set it when the program must not be installed from the network.',
      path: true,
    }),
  },
};
