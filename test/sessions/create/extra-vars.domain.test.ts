import { describe, expect, test } from '@jest/globals';
import { extraVarsFile } from '../../../domain/sessions/extra-vars.ts';
import { withoutFiles } from '../../../domain/sessions/job-schema.ts';
import { looksSecret, maskPassthrough, withMaskedPassthrough } from '../../../domain/sessions/passthrough-mask.ts';

test.each([
  ['', null],
  ['@vars/a.yml', null],
  ['{"a": 1}', '{"a": 1}'],
  ['{a: 1, b: [x]}', '{a: 1, b: [x]}'],
  ['[1]', '[1]'],
  ['a=1', '{"a":"1"}'],
  ['a=1 b="x y"', '{"a":"1","b":"x y"}'],
])('the file of %j is %j', (value, text) => expect(extraVarsFile(value)).toBe(text));

test.each(['/etc/CANARY', './CANARY', 'a="CANARY', 'a={{ CANARY', 'a=CANARY\\N{BULLET}'])(
  'what Ansible refuses is refused, and not repeated: %j',
  (value) => {
    expect(() => extraVarsFile(value)).toThrow(
      expect.objectContaining({ code: 'bad_request', field: 'ansible_passthrough' }),
    );
    expect(() => extraVarsFile(value)).not.toThrow('CANARY');
  },
);

test('an order for a pod that writes no such files has the variables in its words again', () => {
  const order = {
    ...{
      id: 'r',
      layer: 0,
      attempt: 1,
      playbook: 'p',
      debug: false,
      limit_file: null,
      environment: {},
      cwd: '/',
      log_max: 1,
    },
    arguments: ['-v', '--extra-vars=@/w/extra-vars-0', '--extra-vars=@vars.yml'],
  };
  expect(withoutFiles({ ...order, files: { '/w/extra-vars-0': '{"a":"1"}' } })).toEqual({
    ...order,
    arguments: ['-v', '--extra-vars={"a":"1"}', '--extra-vars=@vars.yml'],
  });
  expect(withoutFiles(order)).toBe(order);
});

describe('what readers see', () => {
  test.each([
    ['pw', true],
    ['db_password', true],
    ['dbPassword', true],
    ['PGPASSWORD', true],
    ['api-key', true],
    ['APIKEY', true],
    ['client_secret', true],
    ['vault_token', true],
    ['aws_access_key_id', true],
    ['basic_auth', true],
    ['monkey', false],
    ['keyboard', false],
    ['author', false],
    ['version', false],
    ['spinner', false],
  ])('%s looks like a secret: %p', (name, expected) => expect(looksSecret(name)).toBe(expected));

  test.each([
    ['-e pw=CANARY', '--extra-vars=pw=********'],
    ['-e "pw=CANARY version=3"', '--extra-vars="pw=******** version=3"'],
    [
      '-t x -e \'{"db": {"password": "CANARY", "port": 5}}\'',
      '--tags=x --extra-vars="{\\"db\\":{\\"password\\":\\"********\\",\\"port\\":5}}"',
    ],
    ["-e '{db: {password: CANARY}}'", '--extra-vars=********'],
    ['-e \'cfg={"token":"CANARY"}\'', '--extra-vars=cfg=********'],
    ['-e version=3  -f 5', '-e version=3  -f 5'],
    ['-e @secret-file.yml', '-e @secret-file.yml'],
    ['--unknown password=CANARY', '********'],
    ['', ''],
  ])('of %j: %j', (passthrough, shown) => expect(maskPassthrough(passthrough)).toBe(shown));

  test('it is masked wherever it stands in an answer, and nothing else is copied', () => {
    const other = { list: [{ a: 1 }] };
    const answer = { sessions: [{ ansible: { passthrough: '-e pw=CANARY' }, other }, { ansible_passthrough: null }] };
    const shown = withMaskedPassthrough(answer);
    expect(JSON.stringify(shown)).not.toContain('CANARY');
    expect(shown.sessions[0]?.other).toBe(other);
    expect(answer.sessions[0]?.ansible?.passthrough).toContain('CANARY');
    expect(withMaskedPassthrough(other)).toBe(other);
  });
});
