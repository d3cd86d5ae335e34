import { readAuditRevision } from '../../../store/audit/revisions.ts';
import { topicOfList } from '../../server/streaming/topic-watches.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { auditRoutes } from './audit-routes.ts';

export const audit: ApiLane = (shared) => ({
  muster: { audit: (app) => auditRoutes(app, shared) },
  topics: { audit: topicOfList(shared.streams, () => readAuditRevision(shared.db), { least: 'operator' }) },
});
