import { chmodSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';
import { type MusterStack, stackMissing, startMusterStack } from '../../support/stack/muster-stack.ts';

const UMASK = 0o022;
/** Postgres sees to its own files; workspaces and the test's repositories have the modes of their content. */
const NOT_OURS = ['postgres', 'workspaces', 'repositories'];

/** What the site's files get: copied with their mode, made without one, and by a program. */
const playbook = (out: string) => `- hosts: all
  gather_facts: false
  tasks:
    - copy: {src: tool.sh, dest: ${out}/tool.sh, mode: preserve}
    - copy: {content: x, dest: ${out}/made}
    - file: {path: ${out}/folder, state: directory}
    - shell: umask > ${out}/umask
`;

describeNeeding(stackMissing(), 'files of a data directory', () => {
  let stack: MusterStack;
  let out: string;
  let before: number;

  beforeAll(async () => {
    before = process.umask(UMASK);
    out = await mkdtemp(join(tmpdir(), 'muster-modes-'));
    stack = await startMusterStack({}, 'own');
    const repository = await stack.repository('site');
    await repository.commit({ 'site.yml': playbook(out), 'files/tool.sh': '#!/bin/sh\n' });
    await stack.configure('modes', repository.url, ['site.yml'], ['m1']);
  }, 600_000);
  afterAll(async () => {
    process.umask(before);
    await stack?.remove();
    await rm(out, { recursive: true, force: true });
  });

  /** A file, or a folder with all below it, without the links; nothing of what goes while it is read. */
  function allOf(path: string): string[] {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined || found.isSymbolicLink()) return [];
    return found.isDirectory() ? [path, ...namesIn(path).flatMap((name) => allOf(join(path, name)))] : [path];
  }
  function namesIn(folder: string): string[] {
    try {
      return readdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
  }
  /** Files and folders below the data directory. */
  const files = (): string[] =>
    readdirSync(stack.dataDir)
      .filter((name) => !NOT_OURS.includes(name))
      .flatMap((name) => allOf(join(stack.dataDir, name)));
  const loose = (): string[] =>
    files().filter((path) => ((lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o077) !== 0);

  test('are for its owner alone, and those of a playbook are as the umask says', async () => {
    await stack.create('first', 'modes', { ansible_limit: 'm1' });
    expect((await stack.untilComplete('first')).status.session.succeeded).toBe('true');
    expect(files().map((path) => path.slice(stack.dataDir.length + 1))).toEqual(
      expect.arrayContaining([
        ...['host-id', 'temporal.db', 'temporal.db-wal', 'logs/temporal.log', 'stack.json'],
        expect.stringMatching(/^runs\/.*\/exit\.json$/),
        expect.stringMatching(/^mirrors\/.*\/HEAD$/),
        expect.stringMatching(/^bundles\/workflows-/),
      ]),
    );
    expect(loose()).toEqual([]);
    expect(readFileSync(join(out, 'umask'), 'utf8').trim()).toBe('0022');
    const mode = (name: string) => statSync(join(out, name)).mode & 0o777;
    expect([mode('made'), mode('tool.sh'), mode('folder')]).toEqual([0o644, 0o644, 0o755]);
  });

  test('that a former release has left open are closed at the next start', async () => {
    await stack.stop();
    const opened = files();
    for (const path of opened) chmodSync(path, lstatSync(path).isDirectory() ? 0o755 : 0o644);
    await stack.start();
    await eventually('all are closed', () => loose().length === 0, 60_000, loose);
    await stack.create('second', 'modes', { ansible_limit: 'm1' });
    expect((await stack.untilComplete('second')).status.session.succeeded).toBe('true');
    expect(loose()).toEqual([]);
  }, 600_000);
});
