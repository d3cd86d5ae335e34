/** What sessions ask of their site, where a test has nothing to say about it. */

import type { SessionIdentity } from '../../../control/trust/trust.ts';
import type { SiteValues } from '../../../domain/sessions/ports.ts';

/** A site with a key and without secrets, sources or a configuration of Ansible. */
export const SITE: SiteValues = {
  ansibleConfig: async () => '',
  ssh: async () => ({ privateKey: 'key', knownHosts: '' }),
  vaultPassword: async () => null,
  masks: async () => [],
  source: async () => null,
  repositoryAccess: async () => ({}),
  commonCredentials: async () => null,
};

/** An installation that shows hosts one certificate for ever. */
export const TRUST = {
  hasOwnKey: false,
  identity: async (): Promise<SessionIdentity> => ({
    privateKey: 'key',
    publicKey: 'line',
    certificate: 'certificate',
    lookAgainMs: 60_000,
    problem: null,
  }),
};
