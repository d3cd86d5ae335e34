import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { addRecord, getRecord, recordsOf, removeRecord } from '../../../control/deployments/records.ts';
import type { Acting } from '../../../domain/access/acting.ts';
import { RECORDS, type RecordKind } from '../../../domain/deployments/record-path.ts';
import { type StoredRecord, StoredRecordSchema } from '../../../domain/deployments/record-schema.ts';
import type { Metadata } from '../../../domain/deployments/schema.ts';
import type { ErrorCode } from '../../../domain/errors.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { RefusedAs } from '../../server/route-config.ts';
import type { DeploymentApi } from './dependencies.ts';
import { listRoutes, type Picked } from './list-routes.ts';
import { NOT_JSON } from './not-json.ts';
import { type Names, paramsOf, recordAt } from './record-paths.ts';

type Given = { metadata: Metadata; spec?: object | undefined };

const NOT_FOUND = ['not_found'] as const;

/** A collection of records, all of whose routes are alike. */
export interface Collection {
  kind: RecordKind;
  /** Path of the parent; null: it has none. */
  above: string | null;
  /** Path of the collection. */
  base: string;
  /** What follows the collection in the path of a record. */
  item: string;
  access: 'operator' | 'admin';
  schema: z.ZodType<Given>;
  tag: string;
  /** What adding and removing refuse beside what all do. */
  refuses?: readonly (ErrorCode | RefusedAs)[];
  /** Default: by the record above. */
  list?(names: Names): Promise<StoredRecord[]>;
  /** Default: the record is added, or removed, and nothing else happens; `false`: the lane has a route of its own. */
  add?(by: Acting, parent: string, given: Given, names: Names): Promise<StoredRecord>;
  remove?: ((by: Acting, path: string, names: Names) => Promise<void>) | false;
  /** What the collection answers in place of its list. */
  picked?: Picked;
  /** A text that a record answers in place of itself; it is read by the record's path. */
  value?: { parameter: string; text: string; of(path: string, value: string): Promise<string> };
}

/** Declares list, add, read and remove of a collection. */
export function recordRoutes(app: ApiServer, deps: DeploymentApi, collection: Collection): void {
  const { kind, above, base, item, access, schema, tag, refuses = [], add, remove, picked } = collection;
  const tags = [tag];
  const word = RECORDS[kind].word.toLowerCase();
  const parentOf = (names: Names) => (above === null ? null : recordAt(above, names));
  const ofParent = paramsOf(base);
  const ofItem = paramsOf(`${base}${item}`);
  listRoutes(app, base, {
    ...{ tag, picked, hasParent: above !== null },
    summary: `List each ${word}, in the order in which they were made`,
    all: (names) => (collection.list === undefined ? recordsOf(deps, kind, parentOf(names)) : collection.list(names)),
  });
  app.post(
    base,
    {
      schema: {
        tags,
        summary: `Make a ${word}`,
        ...(above === null ? {} : { params: ofParent }),
        body: schema,
        response: { 201: StoredRecordSchema },
      },
      config: {
        access,
        class: 'quick',
        refuses: [...(above === null ? [] : (['not_found'] as const)), 'already_exists', ...refuses, NOT_JSON],
        absentBodyFirst: true,
      },
    },
    async (request, reply) => {
      const names = request.params as Names;
      const given = request.body as Given;
      const parent = parentOf(names);
      const made =
        add === undefined
          ? await addRecord(deps, acting(request), { kind, parent }, given)
          : await add(acting(request), parent ?? '', given, names);
      return reply.code(201).send(made);
    },
  );
  readRoutes(app, deps, collection);
  if (remove === false) return;
  app.delete(
    `${base}${item}`,
    {
      schema: { tags, summary: `Remove a ${word}`, params: ofItem, response: { 204: NoContentSchema } },
      config: { access, class: 'quick', refuses: ['not_found', 'has_children', ...refuses] },
    },
    async (request, reply) => {
      const names = request.params;
      const path = recordAt(`${base}${item}`, names);
      if (remove === undefined) await removeRecord(deps, kind, path);
      else await remove(acting(request), path, names);
      return reply.code(204).send();
    },
  );
}

/** Declares the reading of a record; where it has a value to ask for, with a query too. */
function readRoutes(app: ApiServer, deps: DeploymentApi, { kind, base, item, tag, value }: Collection): void {
  const path = `${base}${item}`;
  const read = {
    schema: { tags: [tag], summary: `Read a ${RECORDS[kind].word.toLowerCase()}`, params: paramsOf(path) },
    config: { access: 'reader', class: 'quick', refuses: NOT_FOUND },
  } as const;
  if (value === undefined) {
    app.get(path, { ...read, schema: { ...read.schema, response: { 200: StoredRecordSchema } } }, ({ params }) =>
      getRecord(deps, kind, recordAt(path, params)),
    );
    return;
  }
  const asked = z.string().describe(value.text);
  const answer = async (params: Names, query: Partial<Names>, reply: FastifyReply) => {
    const record = recordAt(path, params);
    const given = query[value.parameter];
    if (given === undefined) return getRecord(deps, kind, record);
    // A text is sent as it is, and this is JSON.
    return reply.type('application/json').send(JSON.stringify(await value.of(record, given)));
  };
  const response = { 200: z.union([StoredRecordSchema, z.string()]) };
  // EMCO's clients put a slash before the query.
  for (const [url, querystring, hide] of [
    [path, z.object({ [value.parameter]: asked.optional() }), false],
    [`${path}/`, z.object({ [value.parameter]: asked }), true],
  ] as const) {
    app.get(url, { ...read, schema: { ...read.schema, querystring, response, hide } }, ({ params, query }, reply) =>
      answer(params, query as Partial<Names>, reply),
    );
  }
}
