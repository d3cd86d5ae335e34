import type { ApiLane } from '../../shared/api-shared.ts';
import { auditRoutes } from './audit-routes.ts';

export const audit: ApiLane = (shared) => ({ muster: { audit: (app) => auditRoutes(app, shared) } });
