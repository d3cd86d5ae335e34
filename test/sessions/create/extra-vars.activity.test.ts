/** Extra variables by file mean what they mean as arguments: compared with Ansible's own reading of both. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isMusterError } from '../../../domain/errors.ts';
import { selectArguments } from '../../../domain/sessions/ansible-arguments.ts';
import { parseKeyValues } from '../../../domain/sessions/extra-vars.ts';
import { ansibleBin } from '../../support/ansible/ansible.ts';

/** Answers for each list of values of `--extra-vars` the variables that Ansible has of them, or null where it refuses them. */
const PROGRAM = `
import json, sys
from ansible import context
from ansible.module_utils.common.collections import ImmutableDict
from ansible.parsing.dataloader import DataLoader
from ansible.utils.vars import load_extra_vars
answers = []
for values in json.load(sys.stdin):
    load_extra_vars.extra_vars = None
    context.CLIARGS = ImmutableDict(extra_vars=tuple(values))
    try:
        answers.append(json.dumps(load_extra_vars(DataLoader()), sort_keys=True, default=str))
    except Exception:
        answers.append(None)
json.dump(answers, sys.stdout)
`;

function ask(lists: string[][]): Promise<(string | null)[]> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(join(ansibleBin(), 'python3'), ['-c', PROGRAM], options, (error, out) =>
      error ? reject(error) : resolve(JSON.parse(out)),
    );
    child.stdin?.end(JSON.stringify(lists));
  });
}

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-extra-vars-'));
});
afterAll(() => rm(folder, { recursive: true }));

const target = { definition: 'dynamic' as const, groups: null, image_map: null };
const quote = (value: string) => `-e "${value.replace(/[\\"]/g, '\\$&')}"`;

test('each form, and their order, gives the variables that plain ansible-playbook has', async () => {
  const layerFile = join(folder, 'of-layer.yml');
  await writeFile(layerFile, 'pw: of the layer\nlayer: {deep: 1}\n');
  const table: string[][] = [
    ['pw=CANARY'],
    ['a=1 b=2', 'b=3'],
    ['a="x y" b=\'it is\' c=x=y d='],
    ['a="say \\"x\\"" b=\\x41\\u00e9\\t!'],
    ['{"a": 1, "b": [true, null, 1.5], "c": "{{ a }}"}'],
    ['{a: yes, b: 012, c: 2026-11-26, d: "no"}'],
    ['[1, 2]'],
    ['{"a": {"x": 1}}', '{"a": {"y": 2}}'],
    ['pw=first', `@${layerFile}`],
    [`@${layerFile}`, 'pw=last'],
    ['a={{ b + "x y" }} b={% if c %} d e {% endif %} f={# a b #}'],
    ['first\nsecond=2 \\\nthird=3', 'free words'],
    ['', ' ', 'a=1'],
    ['ü=ä日本', 'emoji=😀'],
    ['a==b', '=x=y', 'a\\=b'],
    ['{broken', 'a=1'],
  ];
  const files: string[][] = [];
  for (const [row, values] of table.entries()) {
    const { words, extraVars } = selectArguments({
      ...{ verbosity: 0, limit: null, target, extraVars: join(folder, `${row}-`) },
      // Files of the layer are named by a relative path there; this one stands beside.
      passthrough: values
        .filter((value) => !value.startsWith('@'))
        .map(quote)
        .join(' '),
    });
    for (const [path, text] of Object.entries(extraVars)) await writeFile(path, text);
    const given = words.map((word) => word.replace('--extra-vars=', ''));
    files.push(values.map((value) => (value.startsWith('@') ? value : (given.shift() as string))));
    expect(files.at(-1)?.filter((value) => value !== '' && !value.startsWith('@'))).toEqual([]);
  }
  const [plain, byFile] = [await ask(table), await ask(files)];
  expect(byFile).toEqual(plain);
  expect(plain.filter((answer) => answer === null)).toHaveLength(2);
});

test('any words are read as Ansible reads them', async () => {
  const part = fc.constantFrom(
    ...[
      'a',
      'b=',
      '=',
      '"',
      "'",
      '\\',
      ' ',
      '  ',
      '\n',
      '\t',
      '{{',
      '}}',
      '{%',
      '%}',
      '{#',
      '#}',
      '\\n',
      '\\"',
      '\\x41',
      'x',
      'é',
      '\u00a0',
    ],
  );
  const texts = fc
    .sample(fc.array(part, { minLength: 1, maxLength: 14 }), { numRuns: 4_000, seed: 7 })
    .map((parts) => parts.join(''))
    .filter((text) => !/^[{[@/.]/.test(text));
  const ours = texts.map((text) => {
    try {
      return parseKeyValues(text);
    } catch (error) {
      if (!isMusterError(error)) throw error;
      return null;
    }
  });
  const theirs = (await ask(texts.map((text) => [text]))).map((answer) =>
    answer === null ? null : JSON.parse(answer),
  );
  const wrong = texts.flatMap((text, n) =>
    JSON.stringify(sorted(ours[n])) === JSON.stringify(sorted(theirs[n])) ? [] : [[text, ours[n], theirs[n]]],
  );
  expect(wrong).toEqual([]);
  expect(ours.filter((answer) => answer !== null).length).toBeGreaterThan(500);
});

const sorted = (record: Record<string, string> | null | undefined) =>
  record ? Object.fromEntries(Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1))) : record;
