import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { limitOfRun, recordsState, selectArguments } from '../../../domain/sessions/ansible-arguments.ts';
import {
  checkAnsibleLimit,
  limitFileText,
  limitNeedsFile,
  plainLimitHosts,
} from '../../../domain/sessions/ansible-limit.ts';
import type { Target } from '../../../domain/sessions/schema.ts';

const dynamic: Target = { definition: 'dynamic', groups: null, image_map: null };
const image: Target = {
  definition: 'image',
  groups: [
    { name: 'a', members: ['i1', 'i2'] },
    { name: 'b', members: ['i2', 'i3'] },
  ],
  image_map: null,
};
const extraVars = '/w/extra-vars-';
const none = { verbosity: 0, limit: null, passthrough: null, target: dynamic, extraVars };

describe('the argument vector', () => {
  test.each<[string, Parameters<typeof selectArguments>[0], string[]]>([
    ['nothing', none, []],
    ['empty texts', { ...none, limit: '', passthrough: '' }, []],
    ['verbosity', { ...none, verbosity: 4 }, ['-vvvv']],
    ['a limit in one word', { ...none, limit: 'x1,x2' }, ['--limit=x1,x2']],
    ['a limit that looks like an option', { ...none, limit: '--inventory=x' }, ['--limit=--inventory=x']],
    ['all in order', { ...none, verbosity: 1, limit: 'a', passthrough: '-t x' }, ['-v', '--limit=a', '--tags=x']],
    ['a long limit by file', { ...none, limit: 'a', limitFile: '/run/limit' }, ['--limit=@/run/limit']],
    ['all members of an image', { ...none, target: image }, ['--limit=i1,i2,i2,i3']],
    ['an image with a limit', { ...none, target: image, limit: 'i1' }, ['--limit=i1']],
  ])('%s', (_name, input, words) => expect(selectArguments(input)).toEqual({ words, extraVars: {} }));

  test('extra variables go by file, in order among each other; files of the layer stay as they are', () => {
    const passthrough = `-e pw=CANARY -t x -e '{"a": [1]}' -e @vars/a.yml -e "" --extra-vars=pw=last`;
    expect(selectArguments({ ...none, passthrough })).toEqual({
      words: [
        '--extra-vars=@/w/extra-vars-0',
        '--tags=x',
        '--extra-vars=@/w/extra-vars-1',
        '--extra-vars=@vars/a.yml',
        '--extra-vars=',
        '--extra-vars=@/w/extra-vars-2',
      ],
      extraVars: {
        '/w/extra-vars-0': '{"pw":"CANARY"}',
        '/w/extra-vars-1': '{"a": [1]}',
        '/w/extra-vars-2': '{"pw":"last"}',
      },
    });
  });

  test('no word can be taken for another option', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4 }),
        fc.string({ minLength: 1 }),
        fc.string(),
        (verbosity, limit, tags) => {
          const passthrough = `-t '${tags.replaceAll("'", '')}'`.replaceAll('\0', '');
          const { words } = selectArguments({ verbosity, limit, passthrough, target: dynamic, extraVars });
          for (const word of words) expect(word).toMatch(/^(-v{1,4}$|--limit=|--tags=)/);
          expect(words.filter((word) => word.startsWith('--limit='))).toEqual([`--limit=${limit}`]);
        },
      ),
    );
  });
});

describe('whether results count as component state', () => {
  const plain = { target: dynamic, passthrough: '', debugPlaybook: null };
  test.each([
    ['an ordinary session', plain, true],
    ['no pass-through at all', { ...plain, passthrough: null }, true],
    ['a pass-through of blanks', { ...plain, passthrough: '  ' }, true],
    ['any pass-through', { ...plain, passthrough: '-f 1' }, false],
    ['an image', { ...plain, target: image }, false],
    ['a debugging playbook', { ...plain, debugPlaybook: 'facts' }, false],
  ])('%s: %p', (_name, session, expected) => expect(recordsState(session)).toBe(expected));
});

describe('limits', () => {
  test.each(['', 'x1', 'x1,x2', 'all:!x1', 'web&db', 'x[0:3]', '~web.*', 'a@b', '-i', '--limit=x', '*'])(
    '%j is allowed',
    (limit) => expect(() => checkAnsibleLimit(limit)).not.toThrow(),
  );

  test.each([
    '@/etc/passwd',
    'x1,@/etc/passwd',
    'x1:@/etc/passwd',
    'x1]@/etc/passwd',
    'x1[@/etc/passwd',
    ',@f',
    '!@f',
    '~@f',
    '\u001f@f',
    '\u0085@f',
    'a\u001cb',
    'a\u0000b',
    '\u00e9@f',
  ])('%j is refused, naming the parameter', (limit) => {
    expect(() => checkAnsibleLimit(limit)).toThrow(
      expect.objectContaining({ code: 'bad_request', message: expect.stringContaining('ansible_limit') }),
    );
  });

  test('goes by file above 64 KiB, in bytes', () => {
    expect(limitNeedsFile('x'.repeat(65_536))).toBe(false);
    expect(limitNeedsFile('x'.repeat(65_537))).toBe(true);
    expect(limitNeedsFile('é'.repeat(32_769))).toBe(true);
    expect(limitFileText('a,,b,c')).toBe('a\nb\nc\n');
  });

  test.each([
    ['x1', ['x1']],
    ['x1,x2,x1,', ['x1', 'x2']],
    ['x1c0s0b0n0,a.b-c_d', ['x1c0s0b0n0', 'a.b-c_d']],
    ['', null],
    ['x[0:3]', null],
    ['all:!x1', null],
    ['x1,~y', null],
    ['x1:22', null],
    ['-x', null],
    ['x.', null],
  ])('%j is the plain hosts %j', (limit, hosts) => expect(plainLimitHosts(limit)).toEqual(hosts));
});

describe('the limit of a run', () => {
  const ofHosts = { ansible_limit: 'a,role_web,b', limit_of_hosts: true, absent_hosts: ['role_web', 'gone'] };
  test.each([
    ['hosts that Muster names, without those that are none', ofHosts, 'a,b'],
    ['none of which is missing', { ...ofHosts, absent_hosts: [] }, 'a,role_web,b'],
    ['whose inventory is not known yet', { ...ofHosts, absent_hosts: null }, 'a,role_web,b'],
    ['a pattern of a person', { ...ofHosts, limit_of_hosts: false }, 'a,role_web,b'],
    ['none', { ...ofHosts, ansible_limit: null }, null],
  ])('%s', (_name, session, expected) => expect(limitOfRun(session)).toBe(expected));
});
