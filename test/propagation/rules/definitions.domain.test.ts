import { describe, expect, test } from '@jest/globals';
import { compactSchema, mistakesOf } from '../../../domain/propagation/compact-schema.ts';
import { canonicalText, checkValues, LARGEST_INPUT } from '../../../domain/propagation/freeze.ts';
import { kindOf } from '../../../domain/propagation/input-kind.ts';
import { editedInputs, inputMistakes, newInputs } from '../../../domain/propagation/own-inputs.ts';
import { checkFiles, readDefinition } from '../../../domain/propagation/read-definition.ts';
import { SHIPPED_DEFINITIONS } from '../../../domain/propagation/shipped-definitions.ts';

const refusal = (code: string, text = '') => expect.objectContaining({ code, message: expect.stringContaining(text) });
const FILES = ['meta.yaml', 'actions/run.sh', 'actions/update.sh', 'actions/remove.sh', 'bin/x', 'actions/sub/no.sh'];

describe('a definition', () => {
  test('has an action for each file in its folder, the inputs of a place, and defaults', () => {
    const definition = readDefinition(
      { handler: 'shell', input: { port: { schema: 'int!', value: 80 } } },
      FILES,
      'web',
    );
    expect(definition).toMatchObject({ id: 'web', version: '1.0.0', handler: 'shell', type_limit: null, tags: [] });
    expect(Object.keys(definition.actions)).toEqual(['remove', 'run', 'update']);
    expect(definition.actions.run).toEqual({
      file: 'actions/run.sh',
      repeatable: true,
      repeat_priority: 0,
      timelimit: 0,
      timeout: 0,
      retry: 0,
      retry_on: 'failure',
      backoff: 0,
      outcomes: {},
    });
    expect(Object.keys(definition.inputs).sort()).toEqual(['location_id', 'port', 'transports_id']);
    expect(definition.inputs.location_id).toEqual({ schema: 'str', kind: 'simple', value: '', secret: false });
  });

  test('that names its actions has no others', () => {
    const again = { file: 'run.sh', retry: 2, retry_on: 'error', backoff: 5, repeatable: false, outcomes: { 3: 'ok' } };
    const actions = { run: 'run.sh', again };
    const definition = readDefinition({ handler: 'shell', actions, outcomes: { 0: 'changed' } }, FILES, 'web');
    expect(Object.keys(definition.actions)).toEqual(['again', 'run']);
    expect(definition.actions.again).toMatchObject({ ...again, file: 'actions/run.sh' });
    expect(definition.actions.run?.outcomes).toEqual({ 0: 'changed' });
  });

  test('that executes nothing has the canonical actions without files', () => {
    expect(readDefinition(null, ['meta.yaml'], 'x').actions).toMatchObject({
      run: { file: null },
      update: { file: null },
      remove: { file: null },
    });
  });

  test.each([
    ['another version', { version: '1.0' }],
    ['an unknown member', { hander: 'none' }],
    ['an unknown handler', { handler: 'bash' }],
    ['a missing file', { handler: 'shell', actions: { run: 'away.sh' } }],
    ['a file outside of its actions', { handler: 'shell', actions: { run: '../bin/x' } }],
    ['an action without a file', { handler: 'shell', actions: { run: {} } }],
    ['another retry_on', { handler: 'shell', actions: { run: { file: 'run.sh', retry_on: 'failed' } } }],
    ['a rest below nothing', { handler: 'shell', actions: { run: { file: 'run.sh', backoff: -1 } } }],
    ['the outcome created', { outcomes: { 0: 'created' } }],
    ['an exit status that is none', { outcomes: { ok: 'ok' } }],
    ['a schema that is none', { input: { a: { schema: 'string' } } }],
    ['a secret list', { input: { a: { schema: ['str'], secret: true } } }],
    ['a plain default of a secret', { input: { a: { schema: 'str', secret: true, value: 'hunter2' } } }],
    ['a name of an input with a colon', { input: { 'a:b': { schema: 'str' } } }],
    ['a list in place of an object', []],
    ['a tag that is none', { tags: ['a b'] }],
  ])('with %s is refused', (_what, meta) => {
    expect(() => readDefinition(meta, FILES, 'web')).toThrow(refusal('validation_failed'));
  });

  test.each([
    ['managers', { managers: ['m.py'] }],
    ['test', { test: 'check.sh' }],
    ['outputs', { outputs: ['a'] }],
    ['puppet', { handler: 'puppet' }],
    ['configuration', { handler: 'configuration' }],
    ['ansible_template', { handler: 'ansible_template' }],
    ['jsonschema', { input: { a: { jsonschema: {} } } }],
    ['computable', { input: { a: { computable: {} } } }],
    ['reverse', { input: { location_id: { reverse: true } } }],
    ['is_own', { input: { a: { is_own: false } } }],
    ['is_emit', { input: { a: { is_emit: false } } }],
    ['$uuid', { input: { a: { value: '$uuid' } } }],
  ])('with %s, which is not built, is refused by that name', (name, meta) => {
    expect(() => readDefinition(meta, FILES, 'web')).toThrow(refusal('not_supported', name));
  });

  test('with two files for one action, or with a file that is no action, is refused', () => {
    for (const more of ['actions/run.py', 'actions/1run.sh']) {
      expect(() => readDefinition({ handler: 'shell' }, [...FILES, more], 'web')).toThrow(
        refusal('validation_failed', more),
      );
    }
  });

  test.each(['/etc/passwd', '../x', 'a/../b', 'a//b', './a', 'a/', '', 'a\\b', 'a\u0000', 'x'.repeat(256)])(
    'with the path %j is refused',
    (path) => {
      expect(() =>
        checkFiles(
          new Map([
            ['meta.yaml', 1],
            [path, 1],
          ]),
        ),
      ).toThrow(refusal('validation_failed'));
    },
  );

  test('has at most 2,000 files and 16 MiB, and a file is no folder', () => {
    const many = new Map(Array.from({ length: 2_001 }, (_, index) => [`f${index}`, 0]));
    expect(() => checkFiles(many)).toThrow(refusal('value_too_large', '2001'));
    expect(() => checkFiles(new Map([['meta.yaml', 16 * 1_048_576 + 1]]))).toThrow(refusal('value_too_large'));
    expect(() => checkFiles(new Map([['meta.yaml', 16 * 1_048_576]]))).not.toThrow();
    expect(() =>
      checkFiles(
        new Map([
          ['meta.yaml', 1],
          ['a', 1],
          ['a/b', 1],
        ]),
      ),
    ).toThrow(refusal('validation_failed'));
    expect(() => checkFiles(new Map([['a', 1]]))).toThrow(refusal('validation_failed', 'meta.yaml'));
  });

  test('of the shipped repository executes nothing', () => {
    expect([...SHIPPED_DEFINITIONS.keys()].sort()).toEqual(['component', 'node', 'none', 'transport_ssh']);
    for (const { handler, actions } of SHIPPED_DEFINITIONS.values()) {
      expect([handler, Object.keys(actions)]).toEqual(['none', ['remove', 'run', 'update']]);
    }
    expect(SHIPPED_DEFINITIONS.get('transport_ssh')?.inputs).toMatchObject({
      key: { secret: true },
      become: { value: false },
    });
  });
});

describe('a compact schema', () => {
  test.each<[unknown, unknown, string[]]>([
    ['str', null, []],
    ['str', 'a', []],
    ['str', 1, ['must be a string, is a number']],
    ['str!', '', ['must not be empty']],
    ['str!', null, ['must be a string, is null']],
    ['int', 1.5, []],
    ['int!', '1', ['must be a number, is a string']],
    ['bool', false, []],
    ['bool!', null, ['must be a boolean, is null']],
    [['int!'], [1, 2], []],
    [['int!'], [1, null, 'a'], ['[1]: must be a number, is null', '[2]: must be a number, is a string']],
    [[], [1, 'a', null], []],
    [[[]], [[1], []], []],
    [[[]], [1], ['[0]: must be a list, is a number']],
    [['str'], null, ['must be a list, is null']],
    [{}, { any: 1 }, []],
    [{}, [], ['must be an object, is a list']],
    [{ host: 'str!', port: 'int' }, { host: 'a', more: 1 }, []],
    [{ host: 'str!', port: 'int' }, { port: 'a' }, ['host: is missing', 'port: must be a number, is a string']],
    [[{ ip: 'str!' }], [{ ip: 'a' }, {}], ['[1].ip: is missing']],
  ])('%j says of %j: %j', (schema, value, mistakes) => {
    expect(mistakesOf(compactSchema(schema, 'schema'), value)).toEqual(mistakes);
  });

  test.each([
    ['str', 'simple'],
    [['str'], 'list'],
    [[], 'list'],
    [[[]], 'list'],
    [[{ a: 'str' }], 'list_hash'],
    [[{}], 'list_hash'],
    [{ a: 'str' }, 'hash'],
    [{}, 'hash'],
  ])('%j makes an input a %s', (schema, kind) => {
    expect(kindOf(compactSchema(schema, 'schema'))).toBe(kind);
  });

  test('that is too deep or too large is refused', () => {
    const deep = Array.from({ length: 40 }).reduce<unknown>((inner) => [inner], 'str');
    const large = Object.fromEntries(Array.from({ length: 9_000 }, (_, index) => [`key${index}`, 'str']));
    expect(() => compactSchema(deep, 'schema')).toThrow(refusal('validation_failed', 'deeper'));
    expect(() => compactSchema(large, 'schema')).toThrow(refusal('validation_failed', 'larger'));
    for (const wrong of [1, null, ['str', 'int'], 'string', 'str!!']) {
      expect(() => compactSchema(wrong, 'schema')).toThrow(refusal('validation_failed'));
    }
  });
});

describe('own values', () => {
  const inputs = readDefinition(
    {
      input: {
        port: { schema: 'int!', value: 80 },
        key: { schema: 'str!', secret: true },
        env: { schema: {}, value: { a: 1 } },
        location_id: { schema: 'str!', value: '$uuid' },
      },
    },
    ['meta.yaml'],
    'x',
  ).inputs;

  test('of a new resource are those given, else the defaults, with an id of its own', () => {
    const made = newInputs(inputs, { port: 81 }, () => 'abc');
    expect(made).toEqual({ port: 81, key: null, env: { a: 1 }, location_id: 'abc', transports_id: '' });
    expect(inputMistakes(inputs, made)).toEqual({ key: ['must refer to a secret'] });
    expect(inputMistakes(inputs, { ...made, port: 'x', key: 'plain' })).toEqual({
      port: ['must be a number, is a string'],
      key: ['must be a reference to a secret'],
    });
  });

  test('change where an edit names them', () => {
    const own = newInputs(inputs, {}, () => 'abc');
    expect(editedInputs(inputs, own, { env: null })).toEqual({ ...own, env: null });
    expect(() => editedInputs(inputs, own, { toString: 1 })).toThrow(refusal('input_unknown'));
    expect(() => editedInputs(inputs, own, { key: 'hunter2' })).toThrow(refusal('secret_by_reference'));
    expect(() => editedInputs(inputs, own, { key: { secret: 'muster-ssh', key: 'private' } })).toThrow(
      refusal('secret_not_allowed'),
    );
  });

  test('of a component give its location, unless it is named', () => {
    const component = SHIPPED_DEFINITIONS.get('component')?.inputs ?? {};
    const made = newInputs(component, { id: 'x1' }, () => '');
    expect(made.location_id).toBe('component:x1');
    expect(editedInputs(component, made, { id: 'x2' }).location_id).toBe('component:x2');
    expect(editedInputs(component, made, { transports_id: 'a' }).location_id).toBe('component:x1');
    expect(newInputs(component, { id: 'x1', location_id: 'localhost' }, () => '').location_id).toBe('localhost');
    expect(newInputs(component, {}, () => '').location_id).toBe('');
  });

  test('have at most 1 MiB and 100 levels, and text that can be stored', () => {
    expect(() => checkValues({ a: 'x'.repeat(LARGEST_INPUT - 2) })).not.toThrow();
    expect(() => checkValues({ a: 'x'.repeat(LARGEST_INPUT - 1) })).toThrow(refusal('value_too_large'));
    const deep = Array.from({ length: 10_000 }).reduce<unknown>((inner) => [inner], 1);
    expect(() => checkValues({ a: deep })).toThrow(refusal('validation_failed', 'deeper'));
    for (const text of ['\0', '\ud800']) {
      expect(() => checkValues({ a: [text] })).toThrow(refusal('validation_failed', 'stored'));
      expect(() => checkValues({ a: { [text]: 1 } })).toThrow(refusal('validation_failed', 'stored'));
    }
    expect(() => checkValues({ a: '\\u0000' })).not.toThrow();
  });

  test('have one text, whatever the order of their members', () => {
    expect(canonicalText({ b: [{ d: 1, c: 2 }], a: null })).toBe(canonicalText({ a: null, b: [{ c: 2, d: 1 }] }));
    expect(canonicalText([1, 2])).not.toBe(canonicalText([2, 1]));
  });
});
