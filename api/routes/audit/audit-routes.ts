import { z } from 'zod';
import { listAudit } from '../../../control/audit/list-audit.ts';
import { AuditListQuerySchema, AuditRecordSchema } from '../../../domain/audit/schema.ts';
import { NextSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

/** Who changed what, when. */
export async function auditRoutes(app: ApiServer, deps: ApiShared): Promise<void> {
  app.get(
    '/audit',
    {
      schema: {
        tags: ['audit'],
        summary: 'List changes with what was before and after, newest first',
        querystring: AuditListQuerySchema,
        response: { 200: z.object({ records: z.array(AuditRecordSchema), next: NextSchema }) },
      },
      config: { access: 'operator', class: 'list' },
    },
    async ({ query, caller }) => {
      const { records, after } = await listAudit(deps.db, query, caller?.role ?? null);
      return { records, next: after === null ? null : { ...query, after_id: after } };
    },
  );
}
