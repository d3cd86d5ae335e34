/** Contexts, and the tokens that sign-in keeps for them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type ContextStore, openContextStore, profileOf } from '../../cli/context-file.ts';
import { always, answer, type FakeApi, problem, startFakeApi } from '../support/fakes/fake-api.ts';
import { type CommandLineOptions, cli } from '../support/stack/command-line.ts';
import { processEnvironment } from '../support/stack/process-environment.ts';

const MAIN = join(import.meta.dirname, '../../cli/main.ts');
const ME = { name: 'token/ci', kind: 'token', role: 'operator', expires_at: null, lanes: ['sessions', 'fleet'] };

let api: FakeApi;
let folder: string;
let contexts: ContextStore;
beforeEach(async () => {
  api = await startFakeApi();
  api.on('GET /v3/components', always(200, { components: [], next: null }));
  api.on('GET /api/v1/sign-in', always(200, { mode: 'token', methods: ['token'] }));
  api.on('GET /api/v1/me', ({ headers }, response) => {
    if (headers.authorization !== 'Bearer muster_good') return problem(response, 'unauthenticated', 'no such token');
    answer(response, 200, ME);
  });
  folder = await mkdtemp(join(tmpdir(), 'muster-contexts-'));
  contexts = openContextStore({ XDG_CONFIG_HOME: folder });
});
afterEach(async () => {
  await api.close();
  await rm(folder, { recursive: true });
});

const run = (args: string[], options: CommandLineOptions = {}) => cli(args, { url: api.url, contexts, ...options });
const inUse = async () => {
  const profile = profileOf(await contexts.read(), undefined);
  return profile === undefined ? {} : { profile };
};
const modeOf = async (path: string) => (await stat(path)).mode & 0o777;

/** The command line as a process of its own, and the token that it sent last. */
async function start(args: string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { ...processEnvironment(), MUSTER_DATA_DIR: folder, XDG_CONFIG_HOME: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  return { out, err, code, sent: api.seen.at(-1)?.headers.authorization };
}

describe('contexts', () => {
  test('are made, listed, shown, chosen, changed and deleted', async () => {
    const set = ['context', 'set', 'prod', '--url', api.url, '--read-only', '--default-output', 'json'];
    expect(await run(set)).toEqual({ exit: 0, out: '', err: 'context prod made; it is used\n' });
    expect((await run(['context', 'set', 'test', '--url', 'https://t.test'])).err).toBe('context test made\n');
    expect((await run(['context', 'list'])).out).toBe(
      `NAME  CURRENT  URL                     READ ONLY\nprod  yes      ${api.url.padEnd(22)}  yes\ntest           https://t.test\n`,
    );
    expect(JSON.parse((await run(['context', 'get', '-o', 'json'])).out)).toEqual({
      ...{ name: 'prod', current: true, url: api.url, read_only: true },
      defaults: { output: 'json' },
    });
    expect((await run(['context', 'use', 'test'])).err).toContain('context test is used now (https://t.test)');
    await run(['context', 'set', 'test', '--no-read-only', '--ca-file', '/etc/ca.pem']);
    expect((await contexts.read()).contexts.test).toEqual({
      ...{ url: 'https://t.test', read_only: false, ca_file: '/etc/ca.pem' },
    });
    expect((await run(['context', 'delete', 'test'])).exit).toBe(0);
    expect(await contexts.read()).toEqual({
      contexts: { prod: { url: api.url, read_only: true, defaults: { output: 'json' } } },
    });
    expect(await modeOf(contexts.path)).toBe(0o600);
    expect(api.seen).toEqual([]);
  });

  test.each([
    [['get', 'nope'], 3, 'there is no context nope'],
    [['use', 'nope'], 3, 'there is no context nope'],
    [['delete', 'nope'], 3, 'there is no context nope'],
    [['set', '../x', '--url', 'https://t.test'], 2, "'../x' is no name of a context"],
    [['set', 'new'], 2, 'context new is new and needs --url'],
    [['set', 'new', '--url', 'ftp://t.test'], 2, 'ftp://t.test is no URL of an API'],
    [['set', 'new', '--url', 'https://u:p@t.test'], 2, 'must have no user and no password'],
    [['get'], 2, 'there is no current context'],
    [['set', 'new', '--url', 'https://t.test', '--default-output', 'xml'], 2, 'Allowed choices are'],
  ])('%j is refused, and nothing is written', async (words, status, sentence) => {
    const { exit, err } = await run(['context', ...words]);
    expect([exit, err]).toEqual([status, expect.stringContaining(sentence)]);
    expect(await contexts.read()).toEqual({ contexts: {} });
  });

  test('of a later release keep what this release does not know', async () => {
    await mkdir(dirname(contexts.path));
    await writeFile(contexts.path, 'theme: dark\ncontexts:\n  a:\n    url: https://a.test\n    tint: red\n', {
      mode: 0o600,
    });
    await run(['context', 'set', 'a', '--read-only']);
    expect(await contexts.read()).toEqual({
      ...{ theme: 'dark', current: 'a' },
      contexts: { a: { url: 'https://a.test', tint: 'red', read_only: true } },
    });
  });

  test.each([
    ['- a\n', 'must have members'],
    ['a: [\n', 'is no YAML'],
    ['contexts: {a: {url: nowhere}}', 'context a: url must be a URL'],
    ['contexts: {a: {url: "https://a.test", read_only: 1}}', 'context a: read_only must be true or false'],
    ['current: 7', 'current must be a name'],
  ])('that are no contexts are refused: %j', async (content, sentence) => {
    await mkdir(dirname(contexts.path));
    await writeFile(contexts.path, content, { mode: 0o600 });
    const { exit, err } = await run(['context', 'list']);
    expect([exit, err]).toEqual([2, expect.stringContaining(sentence)]);
  });

  test('that others may read are refused, with the fix; help is shown all the same', async () => {
    await run(['context', 'set', 'a', '--url', api.url]);
    await chmod(contexts.path, 0o644);
    const refused = await start(['component', 'list']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('may be read by others')]);
    expect(refused.err).toContain(`chmod 600 ${contexts.path}`);
    expect(api.seen).toEqual([]);
    expect((await start(['component', '--help'])).code).toBe(0);
  });
});

describe('sign-in', () => {
  test('keeps a token that the server takes, for that server, readable for its user alone', async () => {
    const { exit, out, err } = await run(['sign-in'], { stdin: 'muster_good\n' });
    expect([exit, out]).toEqual([0, '']);
    expect(err).toContain(`signed in at ${api.url} as token/ci with role operator`);
    expect(err).not.toContain('muster_good');
    const { profile } = await inUse();
    expect(profile).toMatchObject({ url: api.url });
    expect(await readFile(profile?.token_file ?? '', 'utf8')).toBe('muster_good\n');
    expect(await modeOf(profile?.token_file ?? '')).toBe(0o600);
    expect((await start(['component', 'list'])).sent).toBe('Bearer muster_good');
    const elsewhere = await startFakeApi();
    elsewhere.on('GET /v3/components', always(200, { components: [], next: null }));
    await start(['component', 'list', '--url', elsewhere.url]);
    expect(elsewhere.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
    await elsewhere.close();
  });

  test('keeps nothing of a token that the server refuses, and does not show it', async () => {
    const { exit, err } = await run(['sign-in'], { stdin: 'muster_bad\n' });
    expect([exit, err]).toEqual([4, expect.stringContaining('unauthenticated')]);
    expect(err).not.toContain('muster_bad');
    expect(await contexts.read()).toEqual({ contexts: {} });
  });

  test('asks without showing; --no-input and more than one word are refused', async () => {
    const typed = await run(['sign-in'], { typed: 'muster_good\r' });
    expect([typed.exit, typed.err]).toEqual([0, expect.stringContaining('not shown')]);
    const silent = await run(['sign-in', '--no-input'], { typed: 'muster_good\r' });
    expect([silent.exit, silent.err]).toEqual([2, expect.stringContaining('nothing is to be asked')]);
    expect((await run(['sign-in'], { stdin: 'two words' })).exit).toBe(2);
    expect((await run(['sign-in'], { stdin: '' })).exit).toBe(2);
  });

  test('is not needed where access is not checked, and sends no token in the clear', async () => {
    api.on('GET /api/v1/sign-in', always(200, { mode: 'none', methods: [] }));
    expect(await run(['sign-in'], { stdin: 'muster_good' })).toMatchObject({
      exit: 0,
      err: expect.stringContaining('a sign-in is not needed'),
    });
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([undefined]);
  });

  test('is undone by sign-out', async () => {
    await run(['sign-in'], { stdin: 'muster_good' });
    const signedIn = await inUse();
    const { exit, err } = await run(['sign-out'], signedIn);
    expect([exit, err]).toEqual([0, expect.stringContaining(`signed out of ${api.url}`)]);
    expect((await start(['component', 'list'])).sent).toBeUndefined();
    expect((await run(['sign-out'], await inUse())).err).toContain('has no token');
    expect((await run(['sign-out'])).exit).toBe(2);
  });

  test('leaves a token file alone that a person named', async () => {
    const own = join(folder, 'own-token');
    await writeFile(own, 'muster_good\n', { mode: 0o600 });
    await run(['context', 'set', 'a', '--url', api.url, '--own-token-file', own]);
    expect((await run(['sign-out'], await inUse())).exit).toBe(5);
    expect((await start(['component', 'list'])).sent).toBe('Bearer muster_good');
  });

  test('a context that gets another address loses its token', async () => {
    await run(['sign-in'], { stdin: 'muster_good' });
    const { profile } = await inUse();
    await run(['context', 'set', profile?.name ?? '', '--url', 'https://other.test']);
    expect((await inUse()).profile?.token_file).toBeUndefined();
    await expect(stat(profile?.token_file ?? '')).rejects.toThrow('ENOENT');
  });
});

describe('what counts', () => {
  test('is the flag, then the environment, then the current context', async () => {
    const other = await startFakeApi();
    other.on('GET /v3/components', always(200, { components: [], next: null }));
    await run(['sign-in'], { stdin: 'muster_good' });
    const { profile } = await inUse();
    await run(['context', 'set', 'other', '--url', other.url]);
    expect((await start(['component', 'list'], { MUSTER_TOKEN: 'muster_env' })).sent).toBe('Bearer muster_env');
    const flagged = await start(['--context', profile?.name ?? '', 'component', 'list'], {
      ...{ MUSTER_TOKEN: 'muster_env', MUSTER_URL: other.url },
    });
    expect(flagged.sent).toBe('Bearer muster_good');
    expect(other.seen).toEqual([]);
    await start(['component', 'list'], { MUSTER_CONTEXT: 'other' });
    await start(['component', 'list'], { MUSTER_URL: other.url });
    expect(other.seen.map(({ headers }) => headers.authorization)).toEqual([undefined, undefined]);
    const nope = await start(['component', 'list'], { MUSTER_CONTEXT: 'nope' });
    expect([nope.code, nope.err]).toEqual([3, expect.stringContaining('there is no context nope')]);
    await other.close();
  });

  test('forms of the environment and of the context are those of commands without a flag', async () => {
    api.on('GET /v3/components', always(200, { components: [{ id: 'a' }], next: null }));
    const defaults = { output: 'name' };
    expect((await run(['component', 'list'], { defaults })).out).toBe('a\n');
    expect((await run(['component', 'list', '-o', 'jsonl'], { defaults })).out).toBe('{"id":"a"}\n');
    const wrong = await run(['component', 'list'], { defaults: { output: 'xml' } });
    expect([wrong.exit, wrong.err]).toEqual([2, expect.stringContaining('MUSTER_OUTPUT or the context says xml')]);
  });

  test('a context that is read only sends questions and dry runs alone', async () => {
    api.on(
      'POST /api/v1/dry-run',
      always(200, { changed: 0, unchanged: 1, changes: [], becomes: [], hosts: null, warnings: [] }),
    );
    const profile = { name: 'prod', url: api.url, read_only: true };
    expect((await run(['component', 'list'], { profile })).exit).toBe(0);
    expect((await run(['session', 'cancel', 's1', '--dry-run'], { profile })).exit).toBe(0);
    api.seen.length = 0;
    const { exit, err } = await run(['session', 'cancel', 's1'], { profile });
    expect([exit, err]).toEqual([4, expect.stringContaining('context prod is read only; nothing was sent')]);
    expect(api.seen).toEqual([]);
  });
});

describe('whoami', () => {
  test('says who asks, and of which server', async () => {
    const profile = { name: 'prod', url: api.url };
    const { out } = await run(['whoami'], { token: 'muster_good', profile });
    expect(out).toBe(
      `name      token/ci\nrole      operator\nknown by  token\nurl       ${api.url}\ncontext   prod\nlanes     sessions, fleet\n`,
    );
    const json = await run(['whoami', '-o', 'json'], { token: 'muster_good' });
    expect(JSON.parse(json.out)).toEqual({ ...ME, url: api.url, context: null });
    expect((await run(['whoami'])).exit).toBe(4);
  });
});
