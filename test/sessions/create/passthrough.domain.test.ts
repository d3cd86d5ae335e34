import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parsePassthrough } from '../../../domain/sessions/passthrough.ts';

const read = (text: string) => parsePassthrough(text).map(({ option, value }) => `${option}=${value}`);

describe('what is accepted', () => {
  test.each<[string, string[]]>([
    ['', []],
    [' \t\n', []],
    ['-e a=1', ['--extra-vars=a=1']],
    ['-ea=1', ['--extra-vars=a=1']],
    ['-e=a', ['--extra-vars=a']],
    ['--extra-vars a=1', ['--extra-vars=a=1']],
    ['--extra-vars=a=1', ['--extra-vars=a=1']],
    ['--extra a=1', ['--extra-vars=a=1']],
    ['--e a=1', ['--extra-vars=a=1']],
    ['-f 5', ['--forks=5']],
    ['-f5', ['--forks=5']],
    ['--forks=+5', ['--forks=+5']],
    ['-f -1', ['--forks=-1']],
    ['--tag a,b', ['--tags=a,b']],
    ['-t a -t b', ['--tags=a', '--tags=b']],
    ['--skip-tags x --start-at-task y', ['--skip-tags=x', '--start-at-task=y']],
    ['--sk x --st y', ['--skip-tags=x', '--start-at-task=y']],
    [`-e '{"a": "b c"}'`, ['--extra-vars={"a": "b c"}']],
    [`-e "x='a b'"`, [`--extra-vars=x='a b'`]],
    [`-e "say \\"hi\\""`, ['--extra-vars=say "hi"']],
    [`--extra-vars="a b" -t c`, ['--extra-vars=a b', '--tags=c']],
    [`-e x="a b"`, ['--extra-vars=x=a b']],
    [`-t "-x"`, ['--tags=-x']],
    [`-t '--limit=all'`, ['--tags=--limit=all']],
    [`-e ""`, ['--extra-vars=']],
    ['--tags=', ['--tags=']],
    ['-t $(id) -e `id`', ['--tags=$(id)', '--extra-vars=`id`']],
    ['-e @vars/prod.yml', ['--extra-vars=@vars/prod.yml']],
    ['-t -', ['--tags=-']],
    ['-e@vars/prod.yml', ['--extra-vars=@vars/prod.yml']],
    ['-tags', ['--tags=ags']],
    ['-f=7', ['--forks=7']],
    ['-ta -tb', ['--tags=a', '--tags=b']],
    ['-e a\t-t\nb', ['--extra-vars=a', '--tags=b']],
    [`-e 'a'"b"c`, ['--extra-vars=abc']],
    ['-e C:\\dir', ['--extra-vars=C:\\dir']],
    ['-e ä=€', ['--extra-vars=ä=€']],
  ])('%j', (text, words) => expect(read(text)).toEqual(words));
});

describe('what is refused, naming the parameter', () => {
  test.each([
    '-h',
    '--help',
    '--he',
    'positional',
    '-e a=1 positional',
    '-e',
    '-t --tags x',
    '-e -i',
    '-f x',
    '-f 1.5',
    '-f ""',
    '--forks=',
    '--s x',
    '-',
    '--',
    '--=x',
    '-vvv',
    '-i hosts',
    '--inventory=x',
    '--limit all',
    '-l all',
    '--connection=local',
    '-clocal',
    '--vault-password-file=/etc/shadow',
    '--private-key x',
    '--module-path=/tmp',
    '-M/tmp',
    '-e "a',
    "-e 'a",
    '-e "a\\"',
    '"-e" a',
    `--extra-"vars"=x`,
    '"--tags=x"',
    '-e @/etc/shadow',
    '-e @../secret.yml',
    '-e @a/../../b',
    '-e @~/x',
    '-e @$HOME/x',
    `-e '@"/etc/shadow"'`,
    '-e=@/etc/shadow',
    '-e @',
    '-e@/etc/shadow',
    '-e@../x',
    '-fX',
    '-f5x',
    '-f 0x10',
    '-vh',
    '-hx',
    '-- -t x',
    '-t x --',
    '---tags x',
    '--TAGS x',
    '--tagss x',
    '-E a=1',
    "-t it's",
    '-e a\0b',
    `-e ${'x'.repeat(70_000)}`,
  ])('%j', (text) => {
    expect(() => parsePassthrough(text)).toThrow(
      expect.objectContaining({
        code: 'bad_request',
        field: 'ansible_passthrough',
        message: expect.stringContaining('Error validating ansible-passthrough'),
      }),
    );
  });
});

test('any text is either refused or gives known options with one value each', () => {
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom('-e', '-t', '--tags', '--tags=', '--', '-h', '"', "'", '--forks', '-f', '9', '\\', '@/x', '-i'),
  );
  fc.assert(
    fc.property(fc.array(word), fc.constantFrom(' ', '', '='), (words, joint) => {
      try {
        for (const { option, value } of parsePassthrough(words.join(joint))) {
          expect(option).toMatch(/^--(extra-vars|forks|skip-tags|start-at-task|tags)$/);
          if (option === '--forks') expect(value).toMatch(/^[+-]?[0-9]+$/);
          if (option === '--extra-vars') expect(value).not.toMatch(/^@.*(\.\.\/|^@\/)/);
        }
      } catch (error) {
        expect(error).toMatchObject({ code: 'bad_request' });
      }
    }),
  );
});

test('a value between quotes comes through as it is', () => {
  const value = fc.string().filter((text) => !/['\0]/.test(text));
  fc.assert(
    fc.property(value, (text) => {
      expect(parsePassthrough(`-t '${text}'`)).toEqual([{ option: '--tags', value: text }]);
    }),
  );
});
