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
  /** The collection, asked for with a slash and a query, as EMCO's clients ask. */
  pick?: { parameter: string; text: string; of(records: StoredRecord[], value: string): unknown };
}

/** Declares list, add, read and remove of a collection. */
export function recordRoutes(app: ApiServer, deps: DeploymentApi, collection: Collection): void {
  const { kind, above, base, item, access, schema, tag, refuses = [], add, remove, pick } = collection;
  const tags = [tag];
  const word = RECORDS[kind].word.toLowerCase();
  const parentOf = (names: Names) => (above === null ? null : recordAt(above, names));
  const ofParent = paramsOf(base);
  const ofItem = paramsOf(`${base}${item}`);
  const list = {
    schema: {
      tags,
      summary: `List each ${word}, in the order in which they were made`,
      ...(above === null ? {} : { params: ofParent }),
      response: { 200: z.array(StoredRecordSchema) },
    },
    config: { access: 'reader', class: 'list', ...(above === null ? {} : { refuses: NOT_FOUND }) },
  } as const;
  const all = (names: Names) =>
    collection.list === undefined ? recordsOf(deps, kind, parentOf(names)) : collection.list(names);
  app.get(base, list, ({ params }) => all(params as Names));
  if (pick !== undefined) {
    const querystring = z.object({ [pick.parameter]: z.string().describe(pick.text) });
    app.get(
      `${base}/`,
      { ...list, schema: { ...list.schema, querystring, response: { 200: z.unknown() }, hide: true } },
      async ({ params, query }) => pick.of(await all(params as Names), String((query as Names)[pick.parameter])),
    );
  }
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
  app.get(
    `${base}${item}`,
    {
      schema: { tags, summary: `Read a ${word}`, params: ofItem, response: { 200: StoredRecordSchema } },
      config: { access: 'reader', class: 'quick', refuses: ['not_found'] },
    },
    ({ params }) => getRecord(deps, kind, recordAt(`${base}${item}`, params)),
  );
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
