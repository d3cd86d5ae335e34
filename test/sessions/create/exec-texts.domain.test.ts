import { describe, expect, test } from '@jest/globals';
import { checkExecTexts } from '../../../domain/sessions/cluster/exec-texts.ts';

const none = { ansibleArgs: '', configurationLimit: '', layersArgument: '[]' };
/** Of one argument, or one variable with its name, without the byte at its end. */
const MOST = 128 * 1024 - 1;

describe('texts that Linux starts a container with', () => {
  test.each([
    ['ansibleArgs', MOST - 'ANSIBLE_ARGS='.length, 'the limit and pass-through of Ansible'],
    ['configurationLimit', MOST - 'SESSION_CONFIGURATION_LIMIT='.length, 'the limit of the configuration'],
    ['layersArgument', MOST, 'the list of layers'],
  ] as const)('%s', (name, most, what) => {
    expect(() => checkExecTexts({ ...none, [name]: 'x'.repeat(most) })).not.toThrow();
    const refused = expect.objectContaining({
      code: 'container_config_invalid',
      detail: `${what} would take 131073 bytes in a container; Linux starts none with more than 131072`,
    });
    expect(() => checkExecTexts({ ...none, [name]: 'x'.repeat(most + 1) })).toThrow(refused);
  });

  test('bytes count, not characters', () => {
    expect(() => checkExecTexts({ ...none, layersArgument: 'ü'.repeat(MOST / 2 + 1) })).toThrow('131073 bytes');
  });
});
