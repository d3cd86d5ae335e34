import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { buildDocument } from '../../api/openapi/build-document.ts';
import { DOCUMENTS, SURFACES } from '../../api/openapi/surfaces.ts';
import { escaped } from '../support/fakes/answer-check.ts';
import { type ApiDocument, committedFile, generatedFiles, servedDocument } from '../support/openapi-files.ts';
import { createTestApi, type TestApi } from '../support/stack/test-api.ts';

interface Operation {
  document: string;
  path: string;
  method: string;
  // biome-ignore lint/suspicious/noExplicitAny: the tests look into all of it
  operation: any;
}

let api: TestApi;
const documents = new Map<string, ApiDocument>();
let operations: Operation[];
beforeAll(async () => {
  api = await createTestApi();
  for (const name of DOCUMENTS) documents.set(name, await servedDocument(api, name));
  operations = [...documents].flatMap(([document, { paths }]) =>
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ document, path, method, operation })),
    ),
  );
});
afterAll(() => api.close());

/** Operations of which something is not as it should be. */
function those(wrong: (one: Operation) => boolean): string[] {
  return operations.filter(wrong).map(({ document, method, path }) => `${document}: ${method} ${path}`);
}

test('the committed documents are what the code generates', async () => {
  const stale: string[] = [];
  for (const [name, text] of Object.entries(await generatedFiles())) {
    const lines = (await committedFile(name)).split('\n');
    const at = text.split('\n').findIndex((line, index) => line !== lines[index]);
    if (at >= 0 || lines.length !== text.split('\n').length) {
      stale.push(
        `openapi/${name}, line ${at + 1}: is "${lines[at]?.trim() ?? ''}", generated "${text.split('\n')[at]?.trim()}"`,
      );
    }
  }
  if (stale.length > 0) throw new Error(`run "npm run openapi" and commit what it writes:\n${stale.join('\n')}`);
});

test.each(DOCUMENTS)('document %s is valid OpenAPI 3.1', async (name) => {
  const result = await new Validator().validate({ ...documents.get(name) });
  expect(result.errors ?? []).toEqual([]);
  expect(result.valid).toBe(true);
});

describe('every operation', () => {
  test('belongs to a document', () => {
    expect(those(({ document }) => document === 'all').length).toBeGreaterThan(40);
    const stray = { method: 'get', path: '/v4/things', schema: {}, config: {} };
    const settings = { version: '1', prefixes: [''], tags: {} };
    expect(() => buildDocument('all', [stray], settings)).toThrow('get /v4/things is in no document');
  });

  test('says what it does and belongs to a group', () => {
    expect(those(({ operation }) => !operation.summary || operation.tags.length === 0)).toEqual([]);
  });

  test('has a name of its own, the same in every document', () => {
    const all = documents.get('all')?.paths ?? {};
    const names = Object.values(all).flatMap((item) => Object.values(item).map(({ operationId }) => operationId));
    expect(new Set(names).size).toBe(names.length);
    for (const { path, method, operation } of operations) {
      expect(operation.operationId).toBe(all[path]?.[method].operationId);
      expect(operation.operationId).toMatch(/^[a-z]+(_[a-z0-9]+)+$/);
    }
  });

  test('describes each parameter, and its path has no others', () => {
    for (const { path, operation } of operations) {
      const parameters: { name: string; in: string; description?: string }[] = operation.parameters ?? [];
      expect(parameters.filter(({ description }) => !description).map(({ name }) => name)).toEqual([]);
      const inPath = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
      expect([...path.matchAll(/\{(.+?)\}/g)].map(([, name]) => name)).toEqual(inPath);
    }
  });

  test('lists what it answers and refuses', () => {
    expect(
      those(({ operation }) => !Object.keys(operation.responses).some((status) => status.startsWith('2'))),
    ).toEqual([]);
    expect(those(({ operation }) => operation.responses['421'] === undefined)).toEqual([]);
    // A file is taken under whatever type it is sent.
    const takesJson = (operation: { requestBody?: { required?: boolean; content: object } }) =>
      operation.requestBody?.required === true && !('application/octet-stream' in operation.requestBody.content);
    expect(those(({ operation }) => takesJson(operation) && !operation.responses['415'])).toEqual([]);
    expect(those(({ operation, method }) => method !== 'get' && !operation.responses['413'])).toEqual([]);
    expect(those(({ operation }) => operation.security.length > 0 && !operation.responses['401'])).toEqual([]);
    expect(those(({ operation, path }) => path.includes('{') && operation.responses['400'] === undefined)).toEqual([]);
  });
});

describe('what is said by hand', () => {
  test('fits the schemas: examples of bodies', () => {
    const document = documents.get('all');
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    ajv.addSchema({ ...document, $id: 'document' }, 'document');
    let count = 0;
    for (const { document: name, path, method, operation } of operations) {
      const media = operation.requestBody?.content['application/json'];
      if (name !== 'all' || media?.examples === undefined) continue;
      const pointer = ['paths', path, method, 'requestBody', 'content', 'application/json', 'schema'];
      const validate = ajv.getSchema(`document#/${pointer.map(escaped).join('/')}`);
      for (const { value } of Object.values<{ value: unknown }>(media.examples)) {
        count++;
        expect([operation.operationId, validate?.(value), validate?.errors]).toEqual([
          operation.operationId,
          true,
          null,
        ]);
      }
    }
    expect(count).toBeGreaterThan(15);
  });
});

describe('the schemas', () => {
  const schema = (name: string) => documents.get('all')?.components.schemas[name];

  test('are closed where unknown members are refused, and open where they are ignored', () => {
    expect(schema('ComponentBody').additionalProperties).toBe(false);
    expect(schema('SessionCreate').additionalProperties).toBe(false);
    expect(schema('TargetBody').additionalProperties).toBeUndefined();
    expect(schema('ComponentFilterPatch').properties.filters.additionalProperties).toBe(false);
  });

  test('of each body and each answer in JSON have a name', () => {
    const isNamed = ({ content = {} }: { content?: Record<string, { schema?: object }> }) =>
      Object.entries(content).every(([type, { schema }]) => !type.endsWith('json') || '$ref' in (schema ?? {}));
    expect(
      those(
        ({ operation: { requestBody = {}, responses } }) =>
          ![requestBody, ...Object.values<object>(responses)].every(isNamed),
      ),
    ).toEqual([]);
    expect(schema('PostBatchesPauseBody').type).toBe('object');
  });

  test('forbid read-only members in requests', () => {
    expect(schema('ComponentBody').properties.configuration_status).toMatchObject({ not: {}, readOnly: true });
    expect(schema('OptionsPatch').properties.default_playbook).toMatchObject({ not: {}, readOnly: true });
  });

  test('give lengths, patterns and null as the rules do', () => {
    expect(schema('ConfigurationBody').properties.layers.items.$ref).toBe('#/components/schemas/LayerBody');
    expect(schema('SessionCreate').properties.name).toMatchObject({
      minLength: 1,
      maxLength: 45,
      pattern: expect.any(String),
    });
    expect(schema('Session').properties.status.properties.session.properties.job.type).toEqual(['string', 'null']);
    expect(schema('Problem').properties.code.enum).toContain('component_not_found');
  });

  test('offer both forms of the bulk patch', () => {
    const patch = documents.get('v3')?.paths['/v3/components']?.patch;
    expect(patch.requestBody.content['application/json'].schema.$ref).toBe(
      '#/components/schemas/PatchComponentsV3Body',
    );
    expect(schema('PatchComponentsV3Body').anyOf).toEqual([
      { type: 'array', items: { $ref: '#/components/schemas/ComponentBody' } },
      { $ref: '#/components/schemas/ComponentFilterPatch' },
    ]);
  });
});

describe('the page', () => {
  test.each(['', '/apis/cfs'])('under "%s" needs no other host', async (prefix) => {
    const redirect = await api.call('GET', `${prefix}/docs`);
    expect([redirect.status, redirect.headers.location]).toEqual([308, 'docs/']);
    const page = await api.call('GET', `${prefix}/docs/`);
    expect(page.status).toBe(200);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    const links = [...String(page.body).matchAll(/(?:src|href)="([^"]+)"/g)].map(([, link]) => link ?? '');
    expect(links.length).toBeGreaterThan(5);
    for (const link of links) {
      const { pathname, host } = new URL(link, `http://localhost${prefix}/docs/`);
      expect(host).toBe('localhost');
      expect([pathname, (await api.call('GET', pathname)).status]).toEqual([pathname, 200]);
    }
  });

  test('may load from this API alone, without inline scripts', async () => {
    const page = await api.call('GET', '/docs/');
    const policy = String(page.headers['content-security-policy']);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(page.body).not.toMatch(/<style|<script>|\son[a-z]+=|\sstyle=/);
    const script = await api.call('GET', '/docs/initializer.js');
    expect(script.headers['content-security-policy']).toBe(policy);
    for (const surface of SURFACES) expect(script.body).toContain(`'${surface}.json'`);
  });

  test.each(['nothing', 'swagger-ui.js', 'index.css', '..%2fbuild-document.ts', '%2e%2e/build-document.ts'])(
    'serves nothing but its files: %s',
    async (name) =>
      expect((await api.call('GET', `/docs/${name}`)).body).toMatchObject({ status: 404, code: 'not_found' }),
  );
});
