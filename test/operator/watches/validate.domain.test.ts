/** `muster operator validate`, on a folder of this machine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { operatorHome } from '../../../cli/operator-home.ts';
import { cli } from '../../support/stack/command-line.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'muster-home-'));
  mkdirSync(join(home, 'roles', 'db'), { recursive: true });
  writeFileSync(join(home, 'pb.yml'), '[]');
});
afterEach(() => rmSync(home, { recursive: true }));

const validate = async (file: string, args: string[] = [], env: Record<string, string> = {}) => {
  writeFileSync(join(home, 'watches.yaml'), file);
  return cli(['operator', 'validate', '--home', home, ...args], { operatorHome: operatorHome(env) });
};
const GOOD = '- {group: demo.io, version: v1, kind: Db, role: db, markUnsafe: true}\n';

describe('operator validate', () => {
  test('a good file: entries on stdout, exit status 0', async () => {
    const { exit, out, err } = await validate(GOOD, [], { MAX_CONCURRENT_RECONCILES_DB_DEMO_IO: '3' });
    expect([exit, err]).toEqual([0, '']);
    expect(out.split('\n')[1]?.split(/ {2,}/)).toEqual(
      ['demo.io', 'v1', 'Db', join(home, 'roles/db'), '', '3'].filter(Boolean),
    );
  });

  test('a bad file: each mistake with place, looks and fix on stderr, exit status 2', async () => {
    const { exit, err } = await validate(`${GOOD}- {version: v1, kind: A, role: nope, rol: 1}\n`);
    expect(exit).toBe(2);
    expect(err).toContain(`error: entry 2: W8: role: nope was not found\n  looked at ${home}/roles/nope\n  put`);
    expect(err).toContain('error: entry 2: unknown_key: rol: there is no such key\n  write role, or remove the key');
    expect(err).toContain('warning: entry 2, markUnsafe: text_is_templated: ');
    expect(err).toContain(`error: watches_invalid: ${home}/watches.yaml: 2 mistakes`);
  });

  test.each<[string, (text: string) => unknown]>([
    ['json', JSON.parse],
    ['yaml', parse],
  ])('-o %s holds all of it', async (form, read) => {
    const { exit, out } = await validate('- {version: v1, kind: A, playbook: pb.yml, rol: 1}\n', ['-o', form]);
    expect(exit).toBe(2);
    expect(read(out)).toMatchObject({
      valid: false,
      entries: [{ group: '', version: 'v1', kind: 'A', playbook: join(home, 'pb.yml') }],
      errors: [{ code: 'unknown_key', entry: 1, field: 'rol' }],
      warnings: [{ code: 'text_is_templated', entry: 1 }],
    });
    const good = await validate(GOOD, ['-o', form]);
    expect([good.exit, read(good.out)]).toMatchObject([0, { valid: true, errors: [], warnings: [] }]);
  });

  test('the file may lie elsewhere than the home', async () => {
    await validate('- nonsense');
    const other = join(home, 'other.yaml');
    writeFileSync(other, GOOD);
    const { exit } = await cli(['operator', 'validate', other, '--home', home], { operatorHome: operatorHome({}) });
    expect(exit).toBe(0);
  });

  test('a file that is not there is W1', async () => {
    const options = { operatorHome: operatorHome({}) };
    const { exit, err } = await cli(['operator', 'validate', join(home, 'none.yaml')], options);
    expect([exit, err]).toEqual([2, expect.stringContaining('error: W1: ENOENT')]);
    const folder = await cli(['operator', 'validate', home], options);
    expect([folder.exit, folder.err]).toEqual([2, expect.stringContaining('error: W1: EISDIR')]);
  });
});
