/** What the Secret of a session's Job holds: everything that its containers may know, and nothing else does. */

import { readFile } from 'node:fs/promises';
import type { ImageKeys } from '../../../control/sessions/images/image-keys.ts';
import type { Trust } from '../../../control/trust/trust.ts';
import type { Withheld } from '../../../domain/configurations/vcs-credentials.ts';
import { isMusterError } from '../../../domain/errors.ts';
import type { SiteValues, TenantVault } from '../../../domain/sessions/ports.ts';
import type { SnapshotRepository } from '../../../domain/sessions/schema.ts';
import { parseCertificate } from '../../../domain/trust/ssh-certificate.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import { tenantLogin } from '../machine/tenant-login.ts';
import { sourceOf } from '../source-of.ts';

export interface SecretDependencies {
  site: SiteValues;
  trust: Pick<Trust, 'identity' | 'hasOwnKey'>;
  imageKeys: Pick<ImageKeys, 'read'>;
  /** Line of the public half of a private key for ssh. */
  publicKeyOf(privateKey: string): Promise<string>;
  /** Where tenants keep their secrets; unset: nowhere. */
  tenantVault?: TenantVault | undefined;
  /** Its credentials go into the Secret. */
  ara?: { credentialsFile: string | undefined } | undefined;
}

export interface JobSecret {
  values: Record<string, string>;
  warnings: string[];
}

/** One entry of `credentials.json`: what to clone, and what it takes. */
interface CloneEntry {
  layer: number | 'hosts';
  url: string;
  commit: string | null;
  dest: string;
  username?: string;
  password?: string;
  /** Why no credentials go along; said when the server asks for them. */
  withheld?: Withheld;
  ca?: string;
  /** The platform's certificates are its own: it trusts them without the public ones. */
  ca_alone?: true;
}

/** All values of the Secret, as they are now. */
export async function jobSecret(deps: SecretDependencies, session: SessionRow, token: string): Promise<JobSecret> {
  const { site } = deps;
  const { snapshot } = session;
  const clones: { repository: SnapshotRepository; layer: CloneEntry['layer']; dest: string }[] = snapshot.layers.map(
    (layer) => ({ repository: layer, layer: layer.index, dest: `layer${layer.index}` }),
  );
  if (snapshot.additional_inventory !== null) {
    clones.push({ repository: snapshot.additional_inventory, layer: 'hosts', dest: 'hosts' });
  }
  const platformCa = site.platformCa;
  const entries: CloneEntry[] = [];
  for (const { repository, layer, dest } of clones) {
    const source = await sourceOf(site, repository);
    const { credentials, withheld, caPem, caAlone } = await site.repositoryAccess(source, repository.url);
    entries.push({
      layer,
      url: repository.url,
      commit: repository.commit,
      dest,
      ...credentials,
      ...(withheld === undefined ? {} : { withheld }),
      ...(caAlone && caPem !== undefined ? ownCa(caPem, platformCa) : {}),
    });
  }
  const [vcs, { privateKey, knownHosts }, vaultPassword, identity, tenant] = await Promise.all([
    site.commonCredentials(),
    site.ssh(),
    site.vaultPassword(),
    jobIdentity(deps),
    tenantLogin(deps.tenantVault, snapshot),
  ]);
  const imageKey = session.target.definition === 'image' ? await deps.imageKeys.read(session.id) : null;
  const ara = deps.ara?.credentialsFile;
  return {
    values: {
      token,
      'credentials.json': JSON.stringify(entries),
      'ansible.cfg': await site.ansibleConfig(snapshot.ansible_config),
      // What playbooks can come by, and must never show. Credentials of repositories they never see, so not here either.
      'masks.json': JSON.stringify(
        trimmed([token, vaultPassword, tenant.token, privateKey, identity.values.private, imageKey?.privateKey]),
      ),
      plain_key: privateKey,
      known_hosts: knownHosts,
      vault_token: tenant.token,
      ...identity.values,
      ...(imageKey === null ? {} : { id_image: imageKey.privateKey }),
      ...(vaultPassword === null ? {} : { vault_password: vaultPassword }),
      ...(ara === undefined ? {} : { ara_credentials: await readFile(ara, 'utf8') }),
      ...(platformCa === undefined ? {} : { 'ca.crt': platformCa }),
      ...(vcs === null || vcs.hosts.length === 0
        ? {}
        : { vcs_username: vcs.username, vcs_password: vcs.password, 'vcs.json': JSON.stringify(vcs) }),
    },
    warnings: [...identity.warnings, ...tenant.warnings],
  };
}

/** The certificates of a source, as an entry says them: the platform's are beside it in any case, and they may be large. */
function ownCa(caPem: string, platformCa: string | undefined): Pick<CloneEntry, 'ca' | 'ca_alone'> {
  return caPem === platformCa ? { ca_alone: true } : { ca: caPem };
}

/**
 * What playbooks of that session can come by and must never show, but for its token and its tenant's login: those are in the
 * Secret alone.
 */
export async function lastingSecrets(deps: SecretDependencies, session: SessionRow): Promise<string[]> {
  const { site } = deps;
  const [{ privateKey }, vaultPassword, identity] = await Promise.all([
    site.ssh(),
    site.vaultPassword(),
    jobIdentity(deps),
  ]);
  const imageKey = session.target.definition === 'image' ? await deps.imageKeys.read(session.id) : null;
  return trimmed([vaultPassword, privateKey, identity.values.private, imageKey?.privateKey]);
}

/** Those that there are, as they are masked. */
export function trimmed(secrets: (string | null | undefined)[]): string[] {
  return secrets.flatMap((secret) => (secret ? [secret.trim()] : []));
}

export interface JobIdentity extends JobSecret {
  /** Until when its certificate is good, seconds since 1970; null: it has none that ends. */
  until: number | null;
  /** ms until there may be another certificate; null: none is known. */
  lookAgainMs: number | null;
}

/**
 * Key pair and certificate for hosts. Without a certificate the installation's own key is shown alone, which is enough for hosts
 * that know it, with a warning that says why; its public half is left out where it cannot be told.
 */
export async function jobIdentity({
  site,
  trust,
  publicKeyOf,
}: Pick<SecretDependencies, 'site' | 'trust' | 'publicKeyOf'>): Promise<JobIdentity> {
  try {
    const { privateKey, publicKey, certificate, lookAgainMs, problem } = await trust.identity();
    const warnings = problem === null ? [] : [`the certificate for hosts is not renewed: ${problem}`];
    const until = endOf(certificate);
    const values = {
      private: privateKey,
      public: `${publicKey}\n`,
      certificate: `${certificate}\n`,
      certificate_until: `${until ?? ''}\n`,
    };
    return { values, warnings, until, lookAgainMs };
  } catch (error) {
    if (!isMusterError(error) || error.code !== 'trust_unavailable') throw error;
    const warnings = [`hosts are shown no certificate: ${error.detail}`];
    const { privateKey } = await site.ssh();
    const publicKey = await publicKeyOf(privateKey).catch(() => null);
    const values = { private: privateKey, ...(publicKey === null ? {} : { public: `${publicKey}\n` }) };
    return { values, warnings, until: null, lookAgainMs: null };
  }
}

function endOf(certificate: string): number | null {
  const end = (parseCertificate(certificate)?.validBefore ?? Number.NaN) / 1000;
  return Number.isFinite(end) ? end : null;
}
