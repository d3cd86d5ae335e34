import { z } from 'zod';
import { type StoredRecord, StoredRecordSchema } from '../../../domain/deployments/record-schema.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { type Names, paramsOf } from './record-paths.ts';

/** What a collection answers in place of its list where a parameter asks for it. */
export interface Picked {
  parameter: string;
  text: string;
  answer: z.ZodType;
  /** Throws `not_found` where no record fits. */
  of(records: readonly StoredRecord[], value: string): unknown;
}

interface Listed {
  tag: string;
  summary: string;
  /** False: the collection is at the top. */
  hasParent: boolean;
  all(names: Names): Promise<StoredRecord[]>;
  picked?: Picked | undefined;
}

/** Declares the list of a collection. Where it can be asked for one record, EMCO's clients put a slash before the query. */
export function listRoutes(app: ApiServer, base: string, { tag, summary, hasParent, all, picked }: Listed): void {
  const listed = z.array(StoredRecordSchema);
  const schema = { tags: [tag], summary, ...(hasParent ? { params: paramsOf(base) } : {}) };
  const config = {
    access: 'reader',
    class: 'list',
    ...(hasParent ? { refuses: ['not_found'] as const } : {}),
  } as const;
  if (picked === undefined) {
    app.get(base, { schema: { ...schema, response: { 200: listed } }, config }, ({ params }) => all(params as Names));
    return;
  }
  const { parameter, text, answer, of } = picked;
  const asked = z.string().describe(text);
  const response = { 200: z.union([listed, answer]) };
  app.get(
    base,
    { schema: { ...schema, querystring: z.object({ [parameter]: asked.optional() }), response }, config },
    async ({ params, query }) => {
      const records = await all(params as Names);
      const value = (query as Partial<Names>)[parameter];
      return value === undefined ? records : of(records, value);
    },
  );
  app.get(
    `${base}/`,
    { schema: { ...schema, querystring: z.object({ [parameter]: asked }), response, hide: true }, config },
    async ({ params, query }) => of(await all(params as Names), String((query as Names)[parameter])),
  );
}
