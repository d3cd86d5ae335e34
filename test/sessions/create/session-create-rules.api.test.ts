/** The rules of a create in their order, on both versions (cfs-api 9). */
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { addConfiguration } from '../session-fixtures.ts';

const UUID = '5e0c2b4e-2f0a-4d57-9f3e-0f6a3c6f0d11';
/** Versions 1, 3, 4, 5, 7, the nil and the greatest, one that names no version, in all forms. */
const UUIDS = [
  '2c1d43b8-e6a6-11f0-8de9-0242ac120002',
  '6fa459ea-ee8a-3ca4-894e-db77e160355e',
  UUID,
  '886313e1-3b8a-5372-9b90-0c9aee199e5d',
  '01906b5c-8d6d-7e2a-9b0f-0d4f5b1a2c3d',
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '12345678-1234-f234-0234-123456789abc',
  UUID.toUpperCase(),
  UUID.replaceAll('-', ''),
];

let api: TestApi;
beforeAll(async () => {
  api = await createTestApi();
  await addConfiguration(api.deps.db, 'web', 3);
  await addConfiguration(api.deps.db, 'debug_stored', 1);
});
afterAll(() => api.close());
afterEach(async () => {
  await api.deps.db.deleteFrom('sessions').execute();
});

let count = 0;
/** Creates a session of v3's members; v2 has the same in its own names. */
async function create(version: 'v2' | 'v3', body: Record<string, unknown>) {
  const camel = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const named = Object.fromEntries(
    Object.entries({ name: `s-${++count}`, configuration_name: 'web', ...body }).map(([key, value]) => [
      version === 'v2' ? camel(key) : key,
      value,
    ]),
  );
  return api.call('POST', `/${version}/sessions`, named);
}
const versions = ['v2', 'v3'] as const;
const created = { v2: 200, v3: 201 };
const stored = async () => (await api.deps.db.selectFrom('sessions').select('name').execute()).length;

describe.each(versions)('%s: of two mistakes the earlier rule answers', (version) => {
  /** In the order of the contract; each is wrong in one way. */
  const MISTAKES: [string, Record<string, unknown>, { status: number; title: string }][] = [
    ['schema', { ansible_verbosity: 7 }, { status: 400, title: 'Bad Request' }],
    ['name', { name: 'taken' }, { status: 409, title: 'Conflicting session name' }],
    ['configuration', { configuration_name: 'nope' }, { status: 400, title: 'Invalid configuration' }],
    ['target', { target: { definition: 'spec', groups: [] } }, { status: 400, title: 'Bad Request' }],
    ['passthrough', { ansible_passthrough: '-h' }, { status: 400, title: 'Bad Request' }],
  ];
  const SAYS = ['erbosity', 'taken', 'nope', 'target.groups', 'ansible-passthrough'];
  const pairs = MISTAKES.flatMap((first, index) =>
    MISTAKES.slice(index).map((second) => [first[0], second[0], index, { ...second[1], ...first[1] }] as const),
  );
  test.each(pairs)('%s, also with %s', async (_first, _second, index, body) => {
    await create(version, { name: 'taken' });
    const before = await stored();
    const { body: problem } = await create(version, body);
    expect(problem).toMatchObject({ ...MISTAKES[index]?.[2], detail: expect.stringContaining(SAYS[index] ?? '?') });
    expect(await stored()).toBe(before);
  });
});

describe.each(versions)('%s: targets', (version) => {
  const groups = (...members: string[]) => [{ name: 'g', members }];
  const image_map = [{ source_id: UUID, result_name: 'new' }];
  test.each<[string, unknown, unknown]>([
    ['an empty one is dynamic', {}, { definition: 'dynamic', groups: null, image_map: null }],
    [
      'dynamic as the CLI clients send it',
      { definition: 'dynamic', groups: [], image_map: [] },
      { definition: 'dynamic', groups: [], image_map: [] },
    ],
    ['dynamic tolerates an image map', { image_map }, { definition: 'dynamic', groups: null, image_map }],
    ['repo', { definition: 'repo', groups: [] }, { definition: 'repo', groups: [], image_map: null }],
    ['repo tolerates an image map', { definition: 'repo', image_map }, { definition: 'repo', groups: null, image_map }],
    [
      'spec with several groups, one member twice',
      { definition: 'spec', groups: [...groups('a', 'b'), { name: '', members: ['a'] }] },
      { definition: 'spec', groups: [...groups('a', 'b'), { name: '', members: ['a'] }], image_map: null },
    ],
    [
      'spec: what is no UUID is a member like any other',
      { definition: 'spec', groups: groups('x1000c0s0b0n0', UUID) },
      { definition: 'spec', groups: groups('x1000c0s0b0n0', UUID), image_map: null },
    ],
    [
      'image with ids of every version and form, and a map',
      { definition: 'image', groups: groups(...UUIDS), image_map },
      { definition: 'image', groups: groups(...UUIDS), image_map },
    ],
    [
      'members that nobody knows are dropped at every level',
      {
        definition: 'image',
        groups: [{ name: 'g', members: [UUID], x: 1 }],
        image_map: [{ ...image_map[0], x: { y: 1 } }],
        x: [1],
      },
      { definition: 'image', groups: groups(UUID), image_map },
    ],
  ])('%s', async (_what, target, shown) => {
    const answer = await create(version, { target });
    expect([answer.status, answer.body.target]).toEqual([created[version], shown]);
  });

  test.each<[string, unknown, string]>([
    ['an unknown definition', { definition: 'Image' }, 'definition'],
    ['null', null, 'target'],
    ['a list', [], 'target'],
    ['null groups', { groups: null }, 'groups'],
    ['a null map', { image_map: null }, 'image_map'],
    ['dynamic with a group', { groups: groups('a') }, 'target.groups'],
    ['repo with a group', { definition: 'repo', groups: groups('a') }, 'target.groups'],
    ['spec without groups', { definition: 'spec' }, 'target.groups'],
    ['image without groups', { definition: 'image', image_map }, 'target.groups'],
    [
      'a group without name',
      { definition: 'spec', groups: [{ members: ['a'] }] },
      "'name' is a required property - 'target.groups.0'",
    ],
    ['a group without members', { definition: 'spec', groups: [{ name: 'a' }] }, "'members' is a required property"],
    ['a later group without a member', { definition: 'spec', groups: [...groups('a'), ...groups()] }, 'groups.1'],
    ['an empty member', { definition: 'image', groups: groups(UUID, '') }, 'target.groups.0.members'],
    ['a number as member', { definition: 'spec', groups: [{ name: 'g', members: [1] }] }, 'members.0'],
    ['an image by name', { definition: 'image', groups: groups(UUID, 'compute-image') }, 'compute-image'],
    ['an id that is too short', { definition: 'image', groups: groups(UUID.slice(1)) }, UUID.slice(1)],
    ['an id with a wrong letter', { definition: 'image', groups: groups(`g${UUID.slice(1)}`) }, 'target.groups'],
    [
      'a map without source',
      { definition: 'image', groups: groups(UUID), image_map: [{ result_name: 'a' }] },
      'source',
    ],
    ['a map without result', { definition: 'image', groups: groups(UUID), image_map: [{ source_id: 'a' }] }, 'result'],
    ['a map that is none', { definition: 'image', groups: groups(UUID), image_map: {} }, 'image_map'],
  ])('%s is refused by name', async (_what, target, named) => {
    const answer = await create(version, { target });
    expect(answer.body).toMatchObject({ status: 400, title: 'Bad Request', detail: expect.stringContaining(named) });
    expect(await stored()).toBe(0);
  });
});

describe('names of debugging playbooks', () => {
  test.each([
    ['v3', 'debug_fail', 201],
    ['v3', 'debug_whatever', 201],
    ['v3', 'debug_', 201],
    ['v3', 'debug', 400],
    ['v3', 'Debug_fail', 400],
    ['v3', 'debug_stored', 201],
    ['v2', 'debug_fail', 400],
    ['v2', 'debug_stored', 200],
  ] as const)('%s: %s', async (version, configuration_name, status) => {
    const answer = await create(version, { configuration_name });
    expect(answer.status).toBe(status);
    if (status === 400) expect(answer.body).toMatchObject({ title: 'Invalid configuration' });
  });
});

describe('what is left out', () => {
  test.each([
    ['v3', {}, { limit: '', passthrough: '' }],
    ['v3', { ansible_limit: '', ansible_passthrough: '' }, { limit: '', passthrough: '' }],
    ['v2', {}, { limit: null, passthrough: null }],
    ['v2', { ansible_limit: '', ansible_passthrough: '' }, { limit: '', passthrough: '' }],
    ['v2', { ansible_limit: 'a', ansible_passthrough: '-t b' }, { limit: 'a', passthrough: '-t b' }],
  ] as const)('%s: %j is stored as %j, and shown so by both versions', async (version, given, ansible) => {
    const { body } = await create(version, given);
    expect(body.ansible).toMatchObject(ansible);
    for (const other of versions) {
      expect((await api.call('GET', `/${other}/sessions/${body.name}`)).body.ansible).toMatchObject(ansible);
    }
  });
});

describe.each(versions)('%s: pass-through', (version) => {
  test.each([
    '-e a=1 --extra-vars=b=2 -f 5 --skip-tags x --start-at-task "install it" -t y',
    '-e@vars/site.yml -f5 -ta,b',
    `--e '{"a": "b c", "d": [1]}' --fo=+3 --st z --ta=q`,
    '  ',
  ])('%j is taken as it is', async (ansible_passthrough) => {
    const answer = await create(version, { ansible_passthrough });
    expect([answer.status, answer.body.ansible.passthrough]).toEqual([created[version], ansible_passthrough]);
  });

  test.each([
    '-h',
    '--help',
    '-vh',
    '-e',
    '-f five',
    '-fX',
    '-f 5.0',
    '-e "open',
    "-t it's",
    '-- -t x',
    'site.yml',
    '-i /etc/passwd',
    '-e@/etc/passwd',
    '--st',
    '--s=x',
    '-b',
    '--become-user=root',
  ])('%j is refused', async (ansible_passthrough) => {
    const answer = await create(version, { ansible_passthrough });
    expect(answer.body).toMatchObject({
      status: 400,
      title: 'Bad Request',
      detail: expect.stringContaining('Error validating ansible-passthrough'),
    });
  });
});
