/** The program that talks to targets, as a process: what its answers mean, and that it is not waited for without end. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createTargetShells } from '../../../drivers/actions/remote-shell.ts';
import { launcherMissing, PYTHON } from '../../support/ansible/local-runs.ts';
import { eventually } from '../../support/eventually.ts';
import { describeNeeding } from '../../support/requirement.ts';

const CALL = { ssh: ['ssh', 'host', 'command'], attempt: 'a-1', folder: '/tmp/muster-a-1' };

describeNeeding(launcherMissing(), 'the program that talks to a target', () => {
  let dir: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'muster-talks-'));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  const shells = async (text: string, more: object = {}) => {
    const program = join(dir, 'program.py');
    await writeFile(program, text);
    return createTargetShells({ python: PYTHON, program, environment: { FAR: 'yes' }, ...more });
  };

  test.each([
    ['print(\'{"gone": true, "why": null}\')', { isReached: true, isGone: true, why: null }],
    ['print(\'{"gone": false, "why": "left"}\')', { isReached: true, isGone: false, why: 'left' }],
    // A target that has not answered confirms nothing.
    [
      'print(\'{"gone": true, "why": "no route"}\'); raise SystemExit(1)',
      { isReached: false, isGone: false, why: 'no route' },
    ],
    ['print("x")', { isReached: false, isGone: false, why: expect.stringContaining('no answer') }],
    ['', { isReached: false, isGone: false, why: expect.stringContaining('no answer') }],
  ])('says %s', async (text, answer) => {
    expect(await (await shells(text)).end(CALL)).toEqual(answer);
  });

  test('gets the call by its input and the environment alone, and no argument shows either', async () => {
    const seen = join(dir, 'seen');
    const text = `
import json, os, sys
json.dump([sys.argv[1:], json.load(sys.stdin), os.environ.get("FAR"), os.environ.get("HOME")], open(${JSON.stringify(seen)}, "w"))
print('{"gone": true}')`;
    expect(await (await shells(text)).end(CALL)).toEqual({ isReached: true, isGone: true, why: null });
    expect(JSON.parse(await readFile(seen, 'utf8'))).toEqual([['end', '-'], CALL, 'yes', null]);
  });

  test('is ended with its ssh when it takes too long', async () => {
    const seen = join(dir, 'pid');
    const text = `
import subprocess
child = subprocess.Popen(["sleep", "600"])
open(${JSON.stringify(seen)}, "w").write(str(child.pid))
child.wait()`;
    const asked = (await shells(text, { patienceMs: 10_000 })).end(CALL);
    const pid = await eventually('its child', async () => Number(await readFile(seen, 'utf8').catch(() => '')) || null);
    expect(await asked).toEqual({ isReached: false, isGone: false, why: 'the target did not answer within 10 s' });
    await eventually('the end of its child', () => {
      try {
        process.kill(pid, 0);
        return false;
      } catch {
        return true;
      }
    });
  });

  test('that cannot be started confirms nothing', async () => {
    const none = createTargetShells({ python: join(dir, 'none'), program: 'x', environment: {} });
    expect(await none.end(CALL)).toMatchObject({ isReached: false, isGone: false });
  });

  test('is what a run executes', async () => {
    expect((await shells('')).argv('/run/call.json')).toEqual([
      PYTHON,
      join(dir, 'program.py'),
      'run',
      '/run/call.json',
    ]);
  });
});
