/** What the routes of a rehearsal stand on: the same as ever to read, and nothing that reaches out of the transaction. */
import { recordedSecrets } from '../../control/secrets/recorded-secrets.ts';
import { readRehearsalNotes } from '../../control/service/rehearsal-notes.ts';
import { rehearsedBranches } from '../../control/service/rehearse-branches.ts';
import { musterError } from '../../domain/errors.ts';
import type { SecretStore } from '../../domain/secrets/ports.ts';
import type { Db } from '../../store/connection/database.ts';
import type { ApiShared, ApiTemporal } from './api-shared.ts';

/** Returns the shared parts on the handle of rehearsals, without a way out: neither Temporal, nor a secret store, nor traces. */
export function rehearsalShared(shared: ApiShared, handle: Db): ApiShared {
  const { site, temporal, git, log } = shared;
  return {
    ...shared,
    db: handle,
    // The request itself is in the log.
    log: log.child({ rehearsal: true }, { level: 'error' }),
    tracing: undefined,
    site: { ...site, secrets: recordedSecrets(handle, readOnly(site.secrets)) },
    temporal: { ...temporal, ...muted(temporal) },
    git: rehearsedBranches(handle, git),
  };
}

function readOnly(secrets: SecretStore): SecretStore {
  return {
    get: (name) => secrets.get(name),
    list: () => secrets.list(),
    put: async () => undefined,
    putAll: async () => undefined,
    deleteKey: async () => undefined,
    delete: async () => undefined,
  };
}

/** Temporal, which hears nothing. */
function muted({
  schedules,
}: ApiTemporal): Pick<ApiTemporal, 'client' | 'sessions' | 'dispatcher' | 'tell' | 'schedules'> {
  const nothing = async () => undefined;
  return {
    client: new Proxy({} as ApiTemporal['client'], {
      get() {
        throw musterError('rehearsal_unsupported', 'This request asks Temporal, which takes nothing back.');
      },
    }),
    sessions: {
      ...{ finishDebug: nothing, pokeQueue: nothing },
      retryInPlace: async (sessionId, hosts) => {
        readRehearsalNotes().goesOn = { sessionId, hosts };
      },
    },
    dispatcher: { kick: () => undefined },
    tell: nothing,
    schedules: {
      ...{ apply: nothing, remove: nothing, trigger: nothing },
      describe: (name) => schedules.describe(name),
      list: () => schedules.list(),
      isOpen: (workflowId) => schedules.isOpen(workflowId),
    },
  };
}
