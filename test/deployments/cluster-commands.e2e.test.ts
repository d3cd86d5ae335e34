import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cli } from '../support/stack/command-line.ts';
import { createTokenApi, type TokenApi } from '../support/stack/token-api.ts';
import { kubeconfigOf } from './cluster-fixtures.ts';

let api: TokenApi;
let url: string;
const dir = mkdtempSync(join(tmpdir(), 'muster-cluster-commands-'));
const file = join(dir, 'north.kubeconfig');

beforeAll(async () => {
  writeFileSync(file, kubeconfigOf());
  api = await createTokenApi();
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  rmSync(dir, { recursive: true, force: true });
  await api.close();
});

const run = (args: string[], stdin = '', token = api.tokens.admin) => cli(['cluster', ...args], { url, stdin, token });

describe('cluster', () => {
  test('add makes the provider, registers and labels; a second cluster finds the provider', async () => {
    const added = await run(['add', 'north', '--provider', 'lab', '-f', file, '--label', 'edge', '--label', 'arm']);
    expect([added.exit, added.err]).toEqual([0, 'cluster lab+north registered\n']);
    expect((await run(['add', 'south', '--provider', 'lab', '-f', '-'], kubeconfigOf())).exit).toBe(0);
    const listed = await run(['list', '-o', 'tsv']);
    expect(listed.out.split('\n').map((line) => line.split('\t').slice(0, 2).join(' '))).toEqual(
      expect.arrayContaining(['lab+north Unreachable', 'lab+south Unreachable']),
    );
    expect((await run(['list', '-o', 'name'])).out).toBe('lab+north\nlab+south\n');
    expect(JSON.parse((await run(['get', 'lab+north', '-o', 'json'])).out)).toMatchObject([
      { labels: ['arm', 'edge'] },
    ]);
  });

  test('shows no secret, in a dry run neither, which changes nothing', async () => {
    const dry = await run(['add', 'east', '--provider', 'other', '-f', file, '--dry-run=request']);
    expect(dry.exit).toBe(0);
    expect(dry.out + dry.err).not.toContain('hunter2');
    expect((await run(['list', '-o', 'name'])).out).toBe('lab+north\nlab+south\n');
  });

  test('label, rotate and delete', async () => {
    expect((await run(['label', 'lab+south', 'edge', 'spare'])).exit).toBe(0);
    expect((await run(['label', 'lab+south', 'spare', '--remove'])).exit).toBe(0);
    const rotated = await run(['rotate', 'lab+south', '-f', '-'], kubeconfigOf({ token: 'hunter3' }));
    expect([rotated.exit, rotated.err]).toEqual([0, 'credential of cluster lab+south replaced\n']);
    const shown = JSON.parse((await run(['get', 'lab+south', '-o', 'json'])).out);
    expect(shown).toMatchObject([{ labels: ['edge'], credential_revision: 2 }]);
    expect((await run(['delete', 'lab+south'])).err).toBe('cluster lab+south removed\n');
    expect((await run(['list', '-o', 'name'])).out).toBe('lab+north\n');
  });

  test.each<[string, string[], number, string]>([
    ['a name that is no cluster', ['label', 'north', 'edge'], 2, 'usage'],
    ['a cluster that is not there', ['get', 'lab+west'], 3, 'not_found'],
    ['a new credential of none', ['rotate', 'lab+west', '-f', file], 3, 'not_found'],
    ['a name that is taken', ['add', 'north', '--provider', 'lab', '-f', file], 5, 'already_exists'],
    ['a file that is not there', ['add', 'x', '--provider', 'lab', '-f', join(dir, 'absent')], 2, 'usage'],
    ['a file that is no kubeconfig', ['add', 'x', '--provider', 'lab', '-f', '-'], 2, 'invalid_kubeconfig'],
  ])('says what is wrong with %s', async (_title, args, status, code) => {
    const refused = await run(args, '{}');
    expect([refused.exit, refused.err]).toEqual([status, expect.stringContaining(code)]);
  });

  test('is for administrators, but for reading', async () => {
    expect((await run(['list'], '', api.tokens.reader)).exit).toBe(0);
    expect((await run(['label', 'lab+north', 'x'], '', api.tokens.operator)).exit).toBe(4);
  });
});
