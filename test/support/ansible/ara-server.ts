/** A real ARA server with a user, its records in a folder of the test's own. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { freePort } from '../free-port.ts';
import { ansibleBin } from './ansible.ts';

const USER = 'muster';
const START_LIMIT_MS = 90_000;

/**
 * ARA's own, but for the hash of the password: Django's takes a good part of a second by design, which ARA spends on every request,
 * and on a busy machine a run would give the server up.
 */
const SETTINGS = `from ara.server.settings import *

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
`;

export interface AraServer {
  /** Base URL. */
  url: string;
  password: string;
  /** File with user and password, as MUSTER_ARA_CREDENTIALS_FILE names it. */
  credentialsFile: string;
  /** Playbooks with this label. */
  playbooks(label: string): Promise<{ id: number; status: string }[]>;
  /** Names of the hosts of a playbook, sorted. */
  hosts(playbook: number): Promise<string[]>;
  stop(): Promise<void>;
}

/** Starts it on `host`; only its user may read and write. */
export async function startAraServer(host = '127.0.0.1'): Promise<AraServer> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-ara-'));
  const address = `${host}:${await freePort()}`;
  const password = 'the-password-of-ara';
  await writeFile(join(dir, 'test_settings.py'), SETTINGS);
  const env = {
    PATH: process.env.PATH,
    HOME: dir,
    PYTHONPATH: dir,
    DJANGO_SETTINGS_MODULE: 'test_settings',
    ARA_BASE_DIR: dir,
    ARA_ALLOWED_HOSTS: `["${host}"]`,
    ARA_READ_LOGIN_REQUIRED: 'true',
    ARA_WRITE_LOGIN_REQUIRED: 'true',
    DJANGO_SUPERUSER_USERNAME: USER,
    DJANGO_SUPERUSER_PASSWORD: password,
    DJANGO_SUPERUSER_EMAIL: '',
  };
  const manage = join(ansibleBin(), 'ara-manage');
  for (const words of [['migrate'], ['createsuperuser', '--noinput']]) {
    const { status, stderr } = spawnSync(manage, words, { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`ara-manage ${words[0]} ended with ${status}: ${stderr}`);
  }
  const server = spawn(manage, ['runserver', '--noreload', address], { env, stdio: 'ignore' });
  process.once('exit', () => server.kill('SIGKILL'));
  const authorization = `Basic ${Buffer.from(`${USER}:${password}`).toString('base64')}`;
  const list = async (path: string) => {
    const answer = await fetch(`http://${address}/api/v1/${path}`, { headers: { authorization } });
    if (!answer.ok) throw new Error(`ARA answered ${answer.status} to ${path}`);
    return ((await answer.json()) as { results: never[] }).results;
  };
  await eventually('ARA answers', () => list('playbooks').catch(() => null), START_LIMIT_MS);
  const credentialsFile = join(dir, 'credentials.json');
  await writeFile(credentialsFile, JSON.stringify({ username: USER, password }), { mode: 0o600 });
  return {
    url: `http://${address}`,
    password,
    credentialsFile,
    playbooks: (label) => list(`playbooks?label=${label}`),
    hosts: async (playbook) =>
      (await list(`hosts?playbook=${playbook}`)).map(({ name }: { name: string }) => name).sort(),
    stop: () => end(server, dir),
  };
}

async function end(server: ChildProcess, dir: string): Promise<void> {
  const gone = once(server, 'exit');
  if (server.exitCode === null && server.kill('SIGKILL')) await gone;
  await rm(dir, { recursive: true, force: true });
}
