import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { resolveBranches } from '../../control/configurations/resolve-branches.ts';
import { createSiteValues, ensureSiteValues } from '../../control/configurations/site-values.ts';
import { createGit } from '../../drivers/git/create-git.ts';
import { openConfigMaps } from '../../drivers/secrets/config-maps.ts';
import { openSecretCipher } from '../../drivers/secrets/secret-cipher.ts';
import { openSshFiles } from '../../drivers/secrets/ssh-files.ts';
import { makeSshPrivateKey } from '../../drivers/secrets/ssh-key-pair.ts';
import { createSecretStore } from '../../store/secrets/secrets.ts';
import { findProgram } from '../support/find-program.ts';
import { type GitHttpServer, makeCertificates, startGitHttpServer } from '../support/git/git-http-server.ts';
import { createRepository, type TestRepository } from '../support/git/git-repository.ts';
import { createTestDatabase, type TestDatabase } from '../support/postgres/test-database.ts';
import { describeNeeding } from '../support/requirement.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

const account = { username: 'ada', password: "hunter'2 $(touch x)" };
const platform = { username: 'platform', password: 'of-the-site' };
const FAILED = 'Error converting branch name to commit';

let root: string;
let repository: TestRepository;
let database: TestDatabase;
let api: TestApi;
let open: GitHttpServer;
/** Commits by what they were made for. */
const commits: Record<string, string> = {};

beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-branches-'));
  await mkdir(join(root, 'tmp'));
  repository = await createRepository(join(root, 'served', 'plays'));
  const { git, commit } = repository;
  commits.first = await commit({ 'site.yml': '[]' });
  await git('tag', 'v1');
  await git('tag', '--annotate', '--message', 'two', 'v2');
  await git('branch', 'feature/only');
  await git('branch', 'feature/both');
  commits.both = await commit({ 'site.yml': '[1]' });
  await git('branch', 'both');
  commits.named = await commit({ 'site.yml': '[2]' });
  await git('tag', '--annotate', '--message', 'same name as a branch', 'both');
  // Names that look like commits.
  await git('branch', `${'a'.repeat(39)}`);
  await git('branch', 'deadbee');
  await git('tag', `${'b'.repeat(40)}`);
  commits.main = await commit({ 'site.yml': '[3]' });

  database = await createTestDatabase();
  const secrets = createSecretStore(database.db, openSecretCipher(join(root, 'secret.key')), () => new Date());
  const configMaps = openConfigMaps(join(root, 'maps'));
  await ensureSiteValues({
    db: database.db,
    secrets,
    configMaps,
    makeSshKey: makeSshPrivateKey,
    shippedAnsibleConfig: '',
  });
  const site = createSiteValues({ db: database.db, secrets, configMaps, sshFiles: openSshFiles(join(root, 'ssh')) });
  const git2 = createGit({
    mirrorsDir: join(root, 'mirrors'),
    tempDir: join(root, 'tmp'),
    allowedSchemes: ['https', 'http', 'ssh'],
    environment: { PATH: process.env.PATH },
  });
  api = await createTestApi({ db: database.db, secrets, git: git2, repositoryAccess: site.repositoryAccess });
  open = await startGitHttpServer({ root: join(root, 'served') });
});
afterAll(async () => {
  await open.stop();
  await api.close();
  await database.close();
  await rm(root, { recursive: true, force: true });
});

const put = (name: string, ...layers: object[]) =>
  api.call('PUT', `/v3/configurations/${name}`, {
    layers: layers.map((layer, index) => ({ playbook: `p${index}.yml`, ...layer })),
  });
const openUrl = () => `${open.origin}/plays/.git`;
const resolve = async (branch: string) => {
  const { status, body } = await put('c', { clone_url: openUrl(), branch });
  return status === 200 ? body.layers[0].commit : [status, body.title, body.detail];
};

describe('what a branch means', () => {
  test.each([
    ['a branch', 'main', 'main'],
    ['a plain tag', 'v1', 'first'],
    ['an annotated tag, peeled', 'v2', 'first'],
    ['the branch where a tag has the same name', 'both', 'both'],
    ['a branch with slashes', 'feature/only', 'first'],
    ['a branch of 39 hexadecimal digits', 'a'.repeat(39), 'named'],
    ['a branch that looks like a short commit', 'deadbee', 'named'],
    ['a tag of 40 hexadecimal digits', 'b'.repeat(40), 'named'],
  ])('%s: %s', async (_title, branch, commit) => {
    expect(await resolve(branch)).toBe(commits[commit]);
  });

  test.each([7, 12, 39, 40])('%i digits of a commit are that commit', async (digits) => {
    expect(await resolve(commits.both?.slice(0, digits) ?? '')).toBe(commits.both);
  });

  test('a commit that came after the mirror was made is found', async () => {
    await resolve(commits.main?.slice(0, 8) ?? '');
    const later = await repository.commit({ 'site.yml': '[4]' });
    expect(await resolve(later.slice(0, 8))).toBe(later);
    commits.main = later;
  });

  test.each([
    ['the end of a branch name', 'only'],
    ['a full name', 'refs/heads/main'],
    ['a part of a name', 'mai'],
    ['a pattern', 'ma*n'],
    ['another letter case', 'MAIN'],
    ['HEAD', 'HEAD'],
    ['an unknown commit', '0123456'],
    ['an unknown full commit', 'c'.repeat(40)],
    ['six digits', 'abcdef'],
    ['41 digits', 'a'.repeat(41)],
    ['an expression', 'main~1'],
    ['a peeled name', 'v2^{}'],
    ['an option', '--upload-pack=touch'],
    ['a hyphen', '-'],
    ['a path', '../main'],
  ])('%s is none: %s', async (_title, branch) => {
    const [status, title, detail] = await resolve(branch);
    expect([status, title]).toEqual([400, FAILED]);
    expect(detail).toContain(branch);
    expect(detail).toContain("'layers.0.branch'");
  });

  test('digits that begin several commits are none, one more digit is enough', async () => {
    const twins = await makeTwins(repository, join(root, 'twin'));
    const [status, title] = await resolve(twins[0].slice(0, 7));
    expect([status, title]).toEqual([400, FAILED]);
    for (const twin of twins) expect(await resolve(twin.slice(0, 16))).toBe(twin);
  });

  test('each remote is asked once for each branch, whatever the number of layers', async () => {
    const before = open.requests();
    const one = await put('one', { clone_url: openUrl(), branch: 'main' });
    const asked = open.requests() - before;
    const layers = Array.from({ length: 50 }, () => ({ clone_url: openUrl(), branch: 'main' }));
    const many = await put('many', ...layers);
    expect([one.status, many.status]).toEqual([200, 200]);
    expect(new Set(many.body.layers.map((layer: { commit: string }) => layer.commit))).toEqual(new Set([commits.main]));
    expect(open.requests() - before - asked).toBe(asked);
  });

  test.each(['ext::sh -c id', 'file:///etc', '/etc', '--upload-pack=x:y', 'https://', 'gopher://h/x', 'h'])(
    'the URL %s is refused, and only when it is used',
    async (url) => {
      const clone_url = url.replaceAll(' ', '%20');
      const answer = await put('c', { clone_url, branch: 'main' });
      expect([answer.status, answer.body.title]).toEqual([400, FAILED]);
      expect((await put('c', { clone_url, commit: 'a'.repeat(40) })).status).toBe(200);
    },
  );
});

describeNeeding(findProgram('openssl') ? null : 'openssl is not installed', 'a source', () => {
  let closed: GitHttpServer;
  const url = () => `${closed.origin}/plays/.git`;
  beforeAll(async () => {
    const certificates = makeCertificates(join(root, 'certificates'));
    closed = await startGitHttpServer({ root: join(root, 'served'), account, tls: certificates.tls });
    const maps = openConfigMaps(join(root, 'maps'));
    await maps.put('services', 'git-ca', 'ca.pem', await readFile(certificates.caFile, 'utf8'));
    const other = makeCertificates(join(root, 'others'));
    await maps.put('elsewhere', 'git-ca', 'ca.pem', await readFile(other.caFile, 'utf8'));
    await maps.put('services', 'no-ca', 'ca.pem', 'this is no certificate');
  });
  afterAll(() => closed.stop());

  let count = 0;
  /** Makes a source and a configuration that names it; answers both. */
  const use = async (credentials: object, ca_cert?: object) => {
    const name = `source ${count++}`;
    const made = await api.call('POST', '/v3/sources', { name, clone_url: url(), credentials, ca_cert });
    expect(made.status).toBe(201);
    return { name, answer: await put(`c${count}`, { source: name, branch: 'main' }), id: `c${count}` };
  };

  test('resolves with its credentials and its authority, through PUT and PATCH, and PATCH of the source', async () => {
    const { answer, id, name } = await use(account, { configmap_name: 'git-ca' });
    expect([answer.status, answer.body.layers?.[0]?.commit]).toEqual([200, commits.main]);
    commits.main = await repository.commit({ 'site.yml': '[5]' });
    const again = await api.call('PATCH', `/v3/configurations/${id}`);
    expect([again.status, again.body.layers[0].commit]).toEqual([200, commits.main]);

    const source = `/v3/sources/${encodeURIComponent(name)}`;
    const before = (await api.call('GET', `/v3/configurations/${id}`)).body;
    await api.call('PATCH', source, { credentials: { ...account, password: 'changed-word' } });
    const refused = await api.call('PATCH', `/v3/configurations/${id}`);
    expect([refused.status, refused.body.title]).toEqual([400, FAILED]);
    expect((await api.call('GET', `/v3/configurations/${id}`)).body).toEqual(before);
    await api.call('PATCH', source, { credentials: account });
    expect((await api.call('PATCH', `/v3/configurations/${id}`)).status).toBe(200);
  });

  test.each<[string, object, object | undefined, RegExp]>([
    [
      'a wrong password',
      { ...account, password: 'not-the-word' },
      { configmap_name: 'git-ca' },
      /Authentication failed/,
    ],
    ['no authority', account, undefined, /certificate/],
    ['another authority', account, { configmap_name: 'git-ca', configmap_namespace: 'elsewhere' }, /certificate/],
    ['an authority that is none', account, { configmap_name: 'no-ca' }, /SSL|certificate|CA/],
    ['an authority that is missing', account, { configmap_name: 'none' }, /ConfigMap none in namespace services/],
    ['an authority with a hostile name', account, { configmap_name: '../../etc' }, /is no name of a ConfigMap/],
  ])('with %s is 400 that says why and shows no password', async (_title, credentials, ca, why) => {
    const { answer } = await use(credentials, ca);
    expect([answer.status, answer.body.title]).toEqual([400, FAILED]);
    expect(answer.body.detail).toMatch(why);
    expect(JSON.stringify(answer.body)).not.toMatch(/hunter|not-the-word/);
  });

  test('whose secret is gone says so', async () => {
    const { name, id } = await use(account, { configmap_name: 'git-ca' });
    const { body } = await api.call('GET', `/v3/sources/${encodeURIComponent(name)}`);
    await api.deps.secrets.delete(body.credentials.secret_name);
    const answer = await api.call('PATCH', `/v3/configurations/${id}`);
    expect([answer.status, answer.body.title]).toEqual([400, FAILED]);
    expect(answer.body.detail).toContain(body.credentials.secret_name);
  });

  test('of the additional inventory is used too, and the plain URL uses the credentials of the site', async () => {
    const site = await startGitHttpServer({ root: join(root, 'served'), account: platform });
    const clone_url = `${site.origin}/plays/.git`;
    const without = await put('site', { clone_url, branch: 'main' });
    expect([without.status, without.body.title]).toEqual([400, FAILED]);
    await api.call('PUT', '/api/v1/secrets/vcs-user-credentials/vcs_username', { value: platform.username });
    await api.call('PUT', '/api/v1/secrets/vcs-user-credentials/vcs_password', { value: platform.password });
    const unnamed = await put('site', { clone_url, branch: 'main' });
    expect([unnamed.status, unnamed.body.detail]).toEqual([400, expect.stringContaining('vcs_hosts=127.0.0.1:')]);
    const hosts = `git.example.test, ${new URL(site.origin).host}`;
    await api.call('PUT', '/api/v1/secrets/vcs-user-credentials/vcs_hosts', { value: hosts });
    expect((await put('site', { clone_url, branch: 'main' })).body.layers[0].commit).toBe(commits.main);
    const { name } = await use(account, { configmap_name: 'git-ca' });
    const extra = await api.call('PUT', '/v3/configurations/extra', {
      layers: [],
      additional_inventory: { source: name, branch: 'v1' },
    });
    expect(extra.body.additional_inventory).toEqual({ source: name, branch: 'v1', commit: commits.first });
    await site.stop();
  });

  test('no answer and no line of the log had a password in it', () => {
    const lines = JSON.stringify(api.logged);
    expect(lines.length).toBeGreaterThan(1_000);
    for (const secret of ['hunter', 'not-the-word', 'changed-word', 'of-the-site']) expect(lines).not.toContain(secret);
  });
});

describe('a remote that does not answer', () => {
  test('is left alone after a first refusal of another one, and the record stays', async () => {
    const asked: string[] = [];
    const slow = await createTestApi({
      git: {
        resolveRef: ({ ref, signal }) => {
          asked.push(ref);
          if (ref === 'bad') return Promise.reject(new Error('unexpected'));
          return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
        },
      },
    });
    const layers = ['slow', 'bad'].map((branch) => ({ clone_url: openUrl(), playbook: branch, branch }));
    expect((await slow.call('PUT', '/v3/configurations/c', { layers })).status).toBe(500);
    expect(asked).toEqual(['slow', 'bad']);
    expect((await slow.call('GET', '/v3/configurations/c')).status).toBe(404);
    await slow.close();
  });

  test('costs the time of the request, not of each layer, and is 400 in the words of CFS', async () => {
    let asked = 0;
    const git = {
      resolveRef: ({ signal }: { signal: AbortSignal }) => {
        asked++;
        return new Promise<string>((_resolve, reject) => {
          if (signal.aborted) reject(signal.reason);
          signal.addEventListener('abort', () => reject(signal.reason));
        });
      },
    };
    const layers = Array.from({ length: 20 }, (_, index) => ({ clone_url: openUrl(), branch: `b${index}` }));
    await expect(resolveBranches({ ...api.deps, git }, { layers }, AbortSignal.timeout(100))).rejects.toMatchObject({
      code: 'branch_not_resolved',
      detail: expect.stringContaining('did not answer within 30 s'),
      field: 'layers.0.branch',
    });
    expect(asked).toBeLessThan(20);
  });
});

/** Two commits whose ids begin with the same 7 digits, each with a branch: of some 40,000 there are such. */
async function makeTwins({ git }: TestRepository, file: string): Promise<[string, string]> {
  const tree = await git('rev-parse', 'HEAD^{tree}');
  const bodies = new Map<string, string>();
  for (let number = 0; ; number++) {
    const who = `Test <test@example.com> ${number} +0000`;
    const body = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\ntwin\n`;
    const id = createHash('sha1')
      .update(`commit ${Buffer.byteLength(body)}\0${body}`)
      .digest('hex');
    const other = bodies.get(id.slice(0, 7));
    bodies.set(id.slice(0, 7), body);
    if (other === undefined) continue;
    const twins: string[] = [];
    for (const content of [other, body]) {
      await writeFile(file, content);
      twins.push(await git('hash-object', '-t', 'commit', '-w', file));
      await git('branch', `twin-${twins.length}`, twins.at(-1) ?? '');
    }
    return twins as [string, string];
  }
}
