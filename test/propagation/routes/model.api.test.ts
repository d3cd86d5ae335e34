/** Repositories, definitions, resources and connections over REST. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sql } from 'kysely';
import { createTestApi, type TestApi } from '../../support/stack/test-api.ts';
import { MODEL_TABLES, type ModelApi, modelApi, PART, PART_FILES, said } from './model-api.ts';

let api: TestApi;
let model: ModelApi;
beforeAll(async () => {
  api = await createTestApi();
  model = modelApi(api.call);
});
afterAll(() => api.close());
beforeEach(async () => {
  await sql.raw(`truncate ${MODEL_TABLES.join(', ')} cascade`).execute(api.database.db);
  await model.definition();
});

describe('definitions', () => {
  test('are stored once, read, and removed', async () => {
    const again = await api.call('PUT', PART, { files: PART_FILES });
    expect([again.status, again.body]).toEqual([
      200,
      expect.objectContaining({
        repository: 'apps',
        name: 'part',
        version: '1.0.0',
        handler: 'shell',
        files: ['actions/reload.sh', 'actions/run.sh', 'actions/update.sh', 'meta.yaml'],
      }),
    ]);
    const other = { ...PART_FILES, 'actions/run.sh': 'exit 1\n' };
    expect(said(await api.call('PUT', PART, { files: other }))).toEqual([409, 'definition_exists']);
    expect((await api.call('PUT', PART, { files: other, overwrite: true })).status).toBe(201);
    expect((await model.made('GET', '/repositories/apps')).definitions).toEqual({ part: ['1.0.0'] });
    expect((await api.call('DELETE', PART)).status).toBe(204);
    expect(said(await api.call('GET', PART))).toEqual([404, 'definition_not_found']);
  });

  test('that come with Muster are there and read-only', async () => {
    const { repositories } = await model.made('GET', '/repositories');
    expect(repositories.map(({ name, kind }: Record<string, string>) => [name, kind])).toEqual([
      ['apps', 'uploaded'],
      ['muster', 'shipped'],
    ]);
    const { definitions } = await model.made('GET', '/repositories/muster');
    const [[name, [version]]] = Object.entries(definitions) as [[string, string[]]];
    const path = `/repositories/muster/definitions/${name}/${version}`;
    expect((await model.made('GET', path)).name).toBe(name);
    expect(said(await model.call('PUT', path, { files: PART_FILES }))).toEqual([409, 'repository_read_only']);
    expect(said(await model.call('DELETE', path))).toEqual([409, 'repository_read_only']);
    expect(said(await model.call('DELETE', '/repositories/muster'))).toEqual([409, 'repository_read_only']);
  });

  test.each([
    ['POST', '/repositories', { name: 'apps' }, [409, 'repository_exists']],
    ['POST', '/repositories', { name: 'a/b' }, [422, 'validation_failed']],
    ['POST', '/repositories', { name: 'g', ref: 'main' }, [422, 'validation_failed']],
    ['POST', '/repositories', { name: 'g', unknown: 1 }, [400, 'bad_request']],
    ['GET', '/repositories/none', undefined, [404, 'repository_not_found']],
    ['DELETE', '/repositories/none', undefined, [404, 'repository_not_found']],
    ['PUT', '/repositories/none/definitions/a/1.0.0', { files: PART_FILES }, [404, 'repository_not_found']],
    ['PUT', '/repositories/apps/definitions/a/2.0.0', { files: PART_FILES }, [422, 'validation_failed']],
    [
      'PUT',
      '/repositories/apps/definitions/a/1.0.0',
      { files: { 'meta.yaml': 'managers: [x]' } },
      [422, 'not_supported'],
    ],
    ['POST', '/resources', { name: 'x', from: 'none/part' }, [404, 'repository_not_found']],
  ] as const)('%s %s %j is refused', async (method, path, body, expected) => {
    expect(said(await model.call(method, path, body))).toEqual(expected);
  });

  test('of a repository in use stay', async () => {
    await model.create('a');
    expect(said(await model.call('DELETE', '/repositories/apps'))).toEqual([409, 'repository_in_use']);
    expect(said(await api.call('DELETE', PART))).toEqual([409, 'repository_in_use']);
  });

  test('have a body of their own size', async () => {
    const files = { ...PART_FILES, large: 'x'.repeat(25 * 2 ** 20) };
    expect(said(await api.call('PUT', PART, { files }))).toEqual([413, 'body_too_large']);
  });
});

describe('resources', () => {
  test('are made, read, edited, tagged, listed and removed', async () => {
    const wanted = { name: 'web/1.a', from: 'apps/part:>=1.0.0', inputs: { v: 'x', n: 10 }, tags: ['zone=a'] };
    const made = await model.made('POST', '/resources', wanted);
    expect(made).toMatchObject({ name: 'web/1.a', state: 'created', inputs: { v: 'x', n: 10 }, committed: null });
    expect(made.tags).toEqual(['name=web/1.a', 'resource=part', 'zone=a']);
    const path = '/resources/web%2F1.a';
    expect(await model.made('GET', path)).toEqual(made);
    expect((await model.made('PATCH', path, { inputs: { v: 'y' } })).resolved).toMatchObject({ v: 'y', n: 10 });
    expect(await model.made('PUT', `${path}/tags`, { tags: ['canary'] })).toEqual({
      tags: ['canary=', 'name=web/1.a', 'resource=part', 'zone=a'],
    });
    expect((await model.made('DELETE', `${path}/tags`, { tags: ['zone=a'] })).tags).not.toContain('zone=a');
    expect(await model.staged()).toEqual(['web/1.a.run']);
    expect(await model.made('DELETE', path)).toEqual({ name: 'web/1.a', removal: 'deleted' });
    expect(said(await model.call('GET', path))).toEqual([404, 'resource_not_found']);
  });

  test('keep a number that is written with a fraction as a number', async () => {
    const text = '{"name":"a","from":"apps/part","inputs":{"n":10.0,"env":{"x":2.50}}}';
    const { status, body } = await api.call('POST', '/api/v1/propagation/resources', text);
    expect([status, body.inputs.n, body.inputs.env]).toEqual([201, 10, { x: 2.5 }]);
  });

  test('with values too deep to be kept are refused', async () => {
    for (const depth of [300, 100_000]) {
      const text = `{"name":"a","from":"apps/part","inputs":{"env":{"x":${'['.repeat(depth)}1${']'.repeat(depth)}}}}`;
      expect(said(await api.call('POST', '/api/v1/propagation/resources', text))).toEqual([422, 'validation_failed']);
    }
  });

  test('are listed in pages by tags, state and prefix', async () => {
    await model.create('a.1', 'a.2', 'b-1');
    await model.made('PUT', '/resources/a.2/tags', { tags: ['zone=b'] });
    const names = async (query: string) => {
      const { resources } = await model.made('GET', `/resources${query}`);
      return resources.map(({ name }: { name: string }) => name);
    };
    expect(await names('?prefix=a.')).toEqual(['a.1', 'a.2']);
    expect(await names('?tags=zone%3Db%7Cname%3Db-1')).toEqual(['a.2', 'b-1']);
    expect(await names('?state=operational')).toEqual([]);
    expect(await names('?tags=&state=&prefix=b')).toEqual(['b-1']);
    const first = await model.made('GET', '/resources?limit=2&prefix=');
    expect(first.next).toEqual({ limit: 2, after_id: 'a.2', prefix: '' });
    const rest = await model.made('GET', `/resources?${new URLSearchParams(first.next)}`);
    expect([rest.resources.length, rest.next]).toEqual([1, null]);
    expect(said(await model.call('GET', '/resources?tags=%28'))).toEqual([400, 'tag_syntax']);
    expect(said(await model.call('GET', '/resources?limit=0'))).toEqual([400, 'bad_request']);
  });

  test.each([
    ['POST', '/resources', { name: 'a', from: 'apps/part' }, [409, 'resource_exists']],
    ['POST', '/resources', { name: '../x', from: 'apps/part' }, [422, 'validation_failed']],
    ['POST', '/resources', { name: 'b', from: './part' }, [400, 'invalid_spec']],
    ['POST', '/resources', { name: 'b', from: 'apps/none' }, [404, 'definition_not_found']],
    ['POST', '/resources', { name: 'b', from: 'apps/part', inputs: { odd: 1 } }, [404, 'input_unknown']],
    ['POST', '/resources', { name: 'b', from: 'apps/part', inputs: { key: 'x' } }, [422, 'secret_by_reference']],
    ['POST', '/resources', { name: 'b', from: 'apps/part', tags: ['a b'] }, [422, 'validation_failed']],
    ['PATCH', '/resources/a', { inputs: { key: { secret: 'vcs', key: 'k' } } }, [422, 'secret_not_allowed']],
    ['PATCH', '/resources/none', { inputs: {} }, [404, 'resource_not_found']],
    ['PATCH', '/resources/a', { inputs: {}, more: 1 }, [400, 'bad_request']],
    ['PUT', '/resources/none/tags', { tags: ['a'] }, [404, 'resource_not_found']],
    ['DELETE', '/resources/a?recursive=true', undefined, [422, 'not_supported']],
    ['DELETE', '/resources/none', undefined, [404, 'resource_not_found']],
    ['POST', '/resources/none/stage', {}, [404, 'resource_not_found']],
    ['POST', '/resources/a/stage', { action: 'none' }, [422, 'action_not_defined']],
  ] as const)('%s %s %j is refused and changes nothing', async (method, path, body, expected) => {
    await model.create('a');
    const before = await model.get('a');
    expect(said(await model.call(method, path, body))).toEqual(expected);
    expect(await model.get('a')).toEqual(before);
    expect((await model.made('GET', '/resources')).resources).toHaveLength(1);
  });
});

describe('connections', () => {
  beforeEach(() => model.create('db', 'web'));

  test('hand values on, with their events, until they are removed', async () => {
    const made = await model.made('POST', '/connections', {
      emitter: 'db',
      receiver: 'web',
      mapping: { v: ['v', 'env:HOST'] },
    });
    expect(made.connections).toMatchObject([
      { emitter: 'db', emitter_input: 'v', receiver: 'web', receiver_input: 'v', key: null },
      { receiver_input: 'env', key: 'HOST' },
    ]);
    const texts = made.events.map(({ text }: { text: string }) => text).sort();
    expect(texts).toContain('on db.run changed web.reload');
    await model.made('PATCH', '/resources/db', { inputs: { v: 'there' } });
    expect(await model.get('web')).toMatchObject({
      inputs: { v: 'own' },
      resolved: { v: 'there', env: { own: '1', HOST: 'there' } },
    });
    expect(said(await model.call('PATCH', '/resources/web', { inputs: { v: 'x' } }))).toEqual([422, 'input_connected']);
    const { connections } = await model.made('GET', '/connections?receiver=web&emitter=db');
    expect(connections).toEqual(made.connections);
    expect((await model.call('DELETE', `/connections/${connections[0].id}`)).status).toBe(204);
    expect((await model.get('web')).resolved.v).toBe('own');
    expect((await model.made('GET', '/events?child=web')).events).not.toEqual([]);
    const pair = { emitter: 'db', receiver: 'web' };
    expect((await model.made('POST', '/connections/delete', pair)).connections).toHaveLength(1);
    expect((await model.made('GET', '/events?resource=web')).events).toEqual([]);
    expect(said(await model.call('POST', '/connections/delete', pair))).toEqual([404, 'connection_not_found']);
  });

  test('leave their events where that is asked for', async () => {
    const made = await model.made('POST', '/connections', {
      emitter: 'db',
      receiver: 'web',
      mapping: ['v'],
      events: 'dependency',
    });
    expect(made.events).toHaveLength(3);
    await model.made('DELETE', `/connections/${made.connections[0].id}?keep_events=true`);
    const { events } = await model.made('GET', '/events?source=user');
    expect(events).toHaveLength(3);
  });

  test('that would close a circle are refused with its path', async () => {
    await model.made('POST', '/connections', { emitter: 'db', receiver: 'web', mapping: ['v'] });
    const answer = await model.call('POST', '/connections', { emitter: 'web', receiver: 'db', mapping: ['v'] });
    expect(said(answer)).toEqual([422, 'input_cycle']);
    expect(answer.body.errors[0].names).toEqual(expect.arrayContaining(['db::v', 'web::v']));
  });

  test.each([
    [{ emitter: 'db', receiver: 'web' }, [422, 'not_supported']],
    [{ emitter: 'db', receiver: 'none', mapping: ['v'] }, [422, 'unknown_resource']],
    [{ emitter: 'db', receiver: 'web', mapping: ['odd'] }, [404, 'input_unknown']],
    [{ emitter: 'db', receiver: 'db', mapping: ['v'] }, [422, 'self_connection']],
    [{ emitter: 'db', receiver: 'web', mapping: { v: 'env:HOST|tag' } }, [422, 'not_supported']],
    [{ emitter: 'db', receiver: 'web', mapping: { key: 'v' } }, [422, 'secret_by_reference']],
    [{ emitter: 'db', receiver: 'web', mapping: ['v'], events: 'odd' }, [400, 'bad_request']],
    [{ emitter: 'db', receiver: 'web', mapping: ['v'], events: ['on db.run odd web.run'] }, [400, 'event_condition']],
  ] as const)('%j is refused and changes nothing', async (body, expected) => {
    expect(said(await model.call('POST', '/connections', body))).toEqual(expected);
    expect((await model.made('GET', '/connections')).connections).toEqual([]);
    expect((await model.made('GET', '/events')).events).toEqual([]);
  });
});
