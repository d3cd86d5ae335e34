/** Messages that name the thing, say what is wrong and the next command. */
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { failureOfAnswer } from '../../cli/failure.ts';
import { refusal } from '../../domain/access/roles.ts';
import { type FakeApi, startFakeApi } from '../support/fakes/fake-api.ts';
import { cli } from '../support/stack/command-line.ts';

let api: FakeApi;
beforeEach(async () => {
  api = await startFakeApi();
});
afterEach(() => api.close());

test.each([
  ['batch_size', './muster option set batch_size=50'],
  ['=5', './muster option set batch_size=50'],
])('an option without a value: %s', async (word, command) => {
  const { exit, err } = await cli(['option', 'set', word], { url: api.url });
  expect(exit).toBe(2);
  expect(err).toContain(`write it as name=value, such as \`${command}\``);
  expect(api.seen).toEqual([]);
});

test('https:// of an API that speaks plain HTTP', async () => {
  const { exit, err } = await cli(['session', 'list'], { url: api.url.replace('http:', 'https:') });
  expect(exit).toBe(7);
  expect(err).toContain('answers plain HTTP');
  expect(err).toContain(`write http://: \`--url ${api.url}\``);
  expect(err).not.toContain('start the stack');
});

test('a role that is too weak', () => {
  const caller = { role: 'reader' as const, component: null, actor: 'token/eyes' };
  expect(refusal({ least: 'operator' }, caller, undefined)).toBe(
    'Your token has role reader, this needs operator: `./muster token create --role operator` as admin',
  );
});

test.each([
  [['session', 'run', '--configuraton', 'x'], '--configuraton', '--configuration'],
  [['session', 'run', 's', '--configuraton=x', '--limit', 'h'], '--configuraton', '--configuration'],
  [['token', 'create', '--rol', 'reader'], '--rol', '--role'],
  [['configuration', 'apply', '--flie', 'x'], '--flie', '--file'],
  [['schedule', 'create', 's', '--crn', '* * * * *'], '--crn', '--cron'],
  [['component', 'list', '--desired', 'x'], '--desired', undefined],
  [['session', 'run', '-configuration', 'x'], '-configuration', '--configuration'],
])('a misspelt option is told before what is missing without it: %j', async (args, option, meant) => {
  const { exit, err } = await cli(args, { url: api.url });
  expect(exit).toBe(2);
  expect(err).toMatch(new RegExp(`^error: unknown option '${option}'`));
  if (meant !== undefined) expect(err).toContain(`unknown option '${option}'. Did you mean ${meant}?`);
  expect(api.seen).toEqual([]);
});

test('no command with required options hides a misspelt one', async () => {
  for (const args of [
    ['session', 'run'],
    ['token', 'create'],
    ['component', 'apply'],
    ['configuration', 'apply'],
  ]) {
    const { exit, err } = await cli([...args, '--nosuchoption', 'x'], { url: api.url });
    expect([args, exit]).toEqual([args, 2]);
    expect(err).toMatch(/^error: unknown option '--nosuchoption'\. The options here: .*--(configuration|role|file)/);
  }
});

test.each([
  [['session', 'lst'], "unknown command 'lst'. Did you mean list?"],
  [['component', 'frobnicate'], "unknown command 'frobnicate'. The commands here: list get"],
])('a misspelt command: %j', async (args, sentence) => {
  const { exit, err } = await cli(args, { url: api.url });
  expect(exit).toBe(2);
  expect(err).toContain(sentence);
});

test('an argument that is missing shows how the command is written', async () => {
  const { exit, err } = await cli(['secret', 'set', 'x'], { url: api.url });
  expect(exit).toBe(2);
  expect(err).toContain(
    "missing required argument 'entry': write it as `./muster secret set [options] <name> <entry...>`",
  );
});

test('a session of a configuration that does not exist', () => {
  const answer = { code: 'configuration_invalid', detail: 'No configurations exist named nope' };
  const failure = failureOfAnswer(400, answer);
  expect([failure.code, failure.message, failure.exit]).toEqual([
    'configuration_not_found',
    'there is no configuration nope',
    3,
  ]);
  expect(failure.fix).toContain('./muster configuration list');
});

test('a schedule without times', async () => {
  const { exit, err } = await cli(['schedule', 'create', 's', '--refresh'], { url: api.url });
  expect([exit, err]).toEqual([2, expect.stringContaining('give --cron, for example --cron "0 3 * * *"')]);
  expect(api.seen).toEqual([]);
});

test.each([
  ['/nonexistent/file', undefined, 'cannot read /nonexistent/file: no such file'],
  ['/', undefined, 'cannot read /: it is a folder'],
  ['-', '{\n  "layers": [\n', 'stdin, line 2: unexpected end; `[` of line 2 is not closed'],
  ['-', 'a: b\n c: d\n', 'stdin, line 1: is neither JSON nor YAML: '],
])('a file that cannot be read: %s %j', async (file, stdin, sentence) => {
  const options = { url: api.url, ...(stdin === undefined ? {} : { stdin }) };
  const { exit, err } = await cli(['configuration', 'apply', '-f', file], options);
  expect([exit, err]).toEqual([2, expect.stringContaining(sentence)]);
});
