/** The key and the certificate with which a session logs in at hosts, as files of its workspace. */
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionIdentity, Trust } from '../../../control/trust/trust.ts';
import { isMusterError } from '../../../domain/errors.ts';
import type { SiteValues } from '../../../domain/sessions/ports.ts';
import type { WorkspacePaths, Workspaces } from '../../../domain/sessions/workspace.ts';
import { messageOf } from '../../../domain/text/message-of.ts';

export interface IdentityDependencies {
  /** Where the files are, by the id of the session, or of whatever logs in as a session does. */
  workspaces: Pick<Workspaces, 'writePrivate'> & {
    paths(id: string): Pick<WorkspacePaths, 'sshKey' | 'sshCertificate' | 'plainKey'>;
  };
  site: Pick<SiteValues, 'ssh'>;
  trust: Pick<Trust, 'identity' | 'hasOwnKey'>;
}

/** Pause after a failure, ms. */
const RETRY = 5_000;

/**
 * Writes the files for the first time. Without a certificate the installation's own key is offered alone, which is enough for
 * hosts that know it; the answer is a warning that says why, or null.
 */
export async function writeIdentity(deps: IdentityDependencies, sessionId: string): Promise<string | null> {
  const { workspaces, site, trust } = deps;
  const { privateKey } = await site.ssh();
  const paths = workspaces.paths(sessionId);
  if (trust.hasOwnKey) await workspaces.writePrivate(paths.plainKey, privateKey);
  try {
    return problemOf(await refreshIdentity(deps, sessionId));
  } catch (error) {
    if (!isMusterError(error) || error.code !== 'trust_unavailable') throw error;
    await workspaces.writePrivate(paths.sshKey, privateKey);
    return `hosts are shown no certificate: ${error.detail}`;
  }
}

/** Brings the files to what they should be now; ssh finds the old ones or the new ones, whole. */
export async function refreshIdentity(deps: IdentityDependencies, sessionId: string): Promise<SessionIdentity> {
  const identity = await deps.trust.identity();
  await putIdentity(deps, sessionId, identity);
  return identity;
}

/**
 * Renews the files for as long as a playbook goes on, so that one that takes longer than a certificate still connects. Each
 * new trouble is told once. Answers how to stop, after which nothing is written any more; that never fails.
 */
export function keepIdentity(
  deps: IdentityDependencies,
  sessionId: string,
  tell: (warning: string) => Promise<void>,
): () => Promise<void> {
  const stopped = new AbortController();
  const { signal } = stopped;
  let writing: Promise<void> = Promise.resolve();
  let told: string | null = null;

  /** Answers the pause until the next time, ms. */
  const renew = async (): Promise<number> => {
    let warning: string | null;
    let pause = RETRY;
    try {
      const identity = await deps.trust.identity();
      if (signal.aborted) return 0;
      writing = putIdentity(deps, sessionId, identity);
      await writing;
      warning = problemOf(identity);
      if (warning === null) pause = identity.lookAgainMs;
    } catch (error) {
      warning = notRenewed(messageOf(error));
    }
    if (warning !== null && warning !== told && !signal.aborted) await tell(warning).catch(() => undefined);
    told = warning;
    return pause;
  };
  const keep = async () => {
    while (!signal.aborted) await delay(await renew(), undefined, { signal }).catch(() => undefined);
  };
  void keep();
  return async () => {
    stopped.abort();
    await writing.catch(() => undefined);
  };
}

async function putIdentity(
  { workspaces }: IdentityDependencies,
  sessionId: string,
  { privateKey, certificate }: SessionIdentity,
): Promise<void> {
  const paths = workspaces.paths(sessionId);
  await workspaces.writePrivate(paths.sshKey, privateKey);
  await workspaces.writePrivate(paths.sshCertificate, `${certificate}\n`);
}

function problemOf({ problem }: SessionIdentity): string | null {
  return problem === null ? null : notRenewed(problem);
}

function notRenewed(reason: string): string {
  return `the certificate for hosts is not renewed: ${reason}`;
}
