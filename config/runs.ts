/** The settings of runs: on the machine of a worker, and executed elsewhere. */
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { bytes, port } from './forms.ts';

export const runs = {
  settings: {
    MUSTER_LOCAL_RUNS: z.coerce.number().int().min(1).default(availableParallelism()).meta({
      description: 'Playbooks that run on this machine at the same time.',
      unit: 'playbooks',
      fallback: 'cores of the machine',
      change: 'Lower it when playbooks need much memory.',
    }),
    MUSTER_ANSIBLE_BIN_DIR: z.string().optional().meta({
      description: 'Folder with `ansible-playbook`.',
      fallback: 'found in the cache, then in `PATH`',
      change: 'Set it for an Ansible of the site.',
      path: true,
    }),
    MUSTER_ANSIBLE_WARM: z
      .enum(['on', 'off'])
      .default('on')
      .meta({
        description:
          'Whether a worker keeps processes that have imported Ansible, at most `MUSTER_LOCAL_RUNS`, and starts playbooks ' +
          'with them; the pod of a Job keeps one.',
        change: 'Set it to `off` to start an Ansible anew for each playbook.',
      }),
    MUSTER_PLAYBOOK_COMMAND: z.string().optional().meta({
      description: 'Program that runs in place of `ansible-playbook`.',
      change: "Set it to measure Muster's own share of a run.",
      path: true,
    }),
    MUSTER_LOG_MAX: bytes.default(64 * 2 ** 20).meta({
      description:
        'Largest stored log of a layer. Muster keeps head and tail, and of a runner image of profile `compatible` ' +
        'the head.',
      unit: 'bytes',
      change: 'Raise it when logs are cut.',
    }),
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
      description:
        "How long the token of a run is good after the run's end, for what a runner could not deliver before.",
      unit: 's',
      change: 'Raise it when runners can be cut off for longer.',
    }),
  },
};
