/** What a shell action finds, what its files may name, and what is said of it. */
import { describe, expect, test } from '@jest/globals';
import { unsupportedTarget } from '../../../domain/propagation/handler-support.ts';
import { actionVariables, placedFiles, shellMessage, shownInputs } from '../../../domain/propagation/shell-action.ts';

describe('the files of an action', () => {
  const placed = (...files: string[]) =>
    placedFiles(['meta.yaml', 'actions/run.sh', ...files], 'actions/run.sh').map(
      ({ source, path, isTemplate, executable }) =>
        `${source} -> ${path}${isTemplate ? ' filled' : ''}${executable ? ' executable' : ''}`,
    );

  test('are its own file, templates and scripts', () => {
    expect(placed('scripts/b', 'scripts/in/c.jinja', 'templates/x.conf', 'templates/in/y.jinja', 'managers/m')).toEqual(
      [
        'actions/run.sh -> action.sh filled executable',
        'scripts/b -> scripts/b executable',
        'scripts/in/c.jinja -> scripts/in/c.jinja executable',
        'templates/in/y.jinja -> templates/in/y filled',
        'templates/x.conf -> templates/x.conf',
      ],
    );
  });

  test.each([
    [['templates/a', 'templates/a.jinja'], 'templates/a.jinja and templates/a are the same file'],
    [['templates/.jinja'], 'templates/.jinja has no name without its suffix'],
  ])('%j are refused', (files, message) => {
    expect(() => placed(...files)).toThrow(message);
  });
});

describe('the variables of an action', () => {
  const facts = { resource: 'web', action: 'run', plan: 'p', node: 'web.run#1', occurrence: 1, attempt: 2, dir: '/a' };
  const triggeredBy = [{ node: 'db.run', outcome: 'changed' as const }];

  test('are its inputs by name and all together, and what it is', () => {
    expect(actionVariables({ ...facts, triggeredBy }, { port: 1 })).toEqual({
      ...{ port: 1, resource_args: { port: 1 }, resource_name: 'web', resource_dir: '/a' },
      ...{ templates_dir: 'templates/', scripts_dir: 'scripts/', action: 'run', plan_id: 'p', node_id: 'web.run#1' },
      ...{ occurrence: 1, attempt: 2, triggered_by: triggeredBy },
    });
  });

  test('do not change their meaning by an input of the same name', () => {
    const variables = actionVariables({ ...facts, triggeredBy }, { attempt: 'own', resource_dir: '/other' });
    expect(variables).toMatchObject({ attempt: 2, resource_dir: '/a', resource_args: { attempt: 'own' } });
  });

  test('have paths in the places of secrets', () => {
    const inputs = { key: { secret: 'propagation-a', key: 'b' }, none: null, v: 'x' };
    expect(shownInputs(inputs, new Map([['key', '/a/secrets/key']]))).toEqual({
      ...{ key: '/a/secrets/key', none: null, v: 'x' },
    });
  });
});

test.each([
  [0, 'changed', 'text', null],
  [10, 'ok', 'text', null],
  [3, 'failed', '', 'exit status 3'],
  [3, 'failed', '\n \n', 'exit status 3'],
  [3, 'failed', 'first\nlast\n\n', 'exit status 3: last'],
  [30, 'error', '  gone  \r\n', 'exit status 30: gone'],
  [1, 'failed', 'x'.repeat(5_000), `exit status 1: ${'x'.repeat(1_000)}`],
] as const)('of status %i and outcome %s is said what was wrong', (status, outcome, output, message) => {
  expect(shellMessage(status, outcome, output)).toBe(message);
});

test.each([
  ['localhost', true, null],
  ['localhost', false, 'not_supported'],
  ['component:x', false, null],
  ['10.0.0.1:22', false, null],
  [null, false, null],
] as const)('a node at %s, local connections %s: %s', (target, allowsLocal, code) => {
  expect(unsupportedTarget({ id: 'a.run', target }, { allowsLocal })?.code ?? null).toBe(code);
});
