import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type IdentityDependencies,
  keepIdentity,
  refreshIdentity,
  writeIdentity,
} from '../../activities/sessions/machine/host-identity.ts';
import type { SessionIdentity } from '../../control/trust/trust.ts';
import { musterError } from '../../domain/errors.ts';
import { createWorkspaces } from '../../drivers/local-runner/workspaces.ts';
import { eventually } from '../support/eventually.ts';

let dir: string;
let count = 0;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'muster-identity-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const shown = (given: Partial<SessionIdentity> = {}): SessionIdentity => ({
  publicKey: 'line',
  privateKey: 'trusted key\n',
  certificate: 'certificate 0',
  lookAgainMs: 60_000,
  problem: null,
  ...given,
});
const away = () => musterError('trust_unavailable', 'Vault is sealed');

/** A workspace of its own, and what is in its files. */
async function workspace(identity: () => Promise<SessionIdentity>, hasOwnKey = false) {
  const id = `session-${count++}`;
  const workspaces = createWorkspaces({ dir: join(dir, 'workspaces'), shortDir: dir });
  const paths = await workspaces.make(id);
  const deps: IdentityDependencies = {
    workspaces,
    site: { ssh: async () => ({ privateKey: 'plain key\n', knownHosts: '' }) },
    trust: { identity, hasOwnKey },
  };
  const read = (path: string) => readFile(path, 'utf8').catch(() => null);
  const files = async () => ({
    key: await read(paths.sshKey),
    certificate: await read(paths.sshCertificate),
    plain: await read(paths.plainKey),
  });
  return { id, deps, files, paths };
}

test('key and certificate are files for us alone, and ssh finds one by the other', async () => {
  const { id, deps, files, paths } = await workspace(async () => shown());
  expect(await writeIdentity(deps, id)).toBeNull();
  expect(await files()).toEqual({ key: 'trusted key\n', certificate: 'certificate 0\n', plain: null });
  expect(paths.sshCertificate).toBe(`${paths.sshKey}-cert.pub`);
  for (const path of [paths.sshKey, paths.sshCertificate]) expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test('a key that Vault made comes with the plain one beside it', async () => {
  const { id, deps, files } = await workspace(async () => shown(), true);
  await writeIdentity(deps, id);
  expect(await files()).toEqual({ key: 'trusted key\n', certificate: 'certificate 0\n', plain: 'plain key\n' });
});

test('without a certificate the plain key is offered, with a warning; other trouble is trouble', async () => {
  const { id, deps, files } = await workspace(async () => Promise.reject(away()));
  expect(await writeIdentity(deps, id)).toBe('hosts are shown no certificate: Vault is sealed');
  expect(await files()).toEqual({ key: 'plain key\n', certificate: null, plain: null });
  const broken = await workspace(async () => Promise.reject(new Error('database away')));
  await expect(writeIdentity(broken.deps, broken.id)).rejects.toThrow('database away');
});

test('an old certificate is used, and why is told', async () => {
  const { id, deps } = await workspace(async () => shown({ problem: 'Vault is sealed' }));
  expect(await writeIdentity(deps, id)).toBe('the certificate for hosts is not renewed: Vault is sealed');
});

test('the files follow for as long as a run goes on, and not a moment longer', async () => {
  let now = 0;
  const { id, deps, files, paths } = await workspace(async () =>
    shown({ certificate: `certificate ${now++}`, lookAgainMs: 5 }),
  );
  const stop = keepIdentity(deps, id, async () => undefined);
  await eventually('it was renewed', async () => Number((await files()).certificate?.slice(12)) >= 5);
  await stop();
  await writeFile(paths.sshCertificate, 'left alone');
  const before = now;
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(now - before).toBeLessThanOrEqual(1);
  expect((await files()).certificate).toBe('left alone');
});

test('trouble is told once; what is answered after the end is not written', async () => {
  const told: string[] = [];
  const answer = Promise.withResolvers<SessionIdentity>();
  const asked = Promise.withResolvers<void>();
  const { id, deps, files } = await workspace(() => {
    asked.resolve();
    return answer.promise;
  });
  await deps.workspaces.writePrivate(deps.workspaces.paths(id).sshCertificate, 'first');
  const stop = keepIdentity(deps, id, async (warning) => void told.push(warning));
  await asked.promise;
  await stop();
  answer.resolve(shown());
  await answer.promise;
  expect((await files()).certificate).toBe('first');

  const failing = await workspace(async () => Promise.reject(away()));
  const end = keepIdentity(failing.deps, failing.id, async (warning) => void told.push(warning));
  await eventually('it is told', () => told.length > 0);
  await end();
  expect(told).toEqual(['the certificate for hosts is not renewed: Vault is sealed']);
});

test('a failed refresh leaves the files as they are', async () => {
  let isAway = false;
  const { id, deps, files } = await workspace(async () => (isAway ? Promise.reject(away()) : shown()));
  await refreshIdentity(deps, id);
  isAway = true;
  await expect(refreshIdentity(deps, id)).rejects.toMatchObject({ code: 'trust_unavailable' });
  expect(await files()).toMatchObject({ key: 'trusted key\n', certificate: 'certificate 0\n' });
});
