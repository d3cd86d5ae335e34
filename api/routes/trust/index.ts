import type { ApiLane } from '../../shared/api-shared.ts';
import { trustRoutes } from './trust-routes.ts';

export const trust: ApiLane = ({ db, site }) => ({
  muster: { trust: (app) => trustRoutes(app, { db, secrets: site.secrets }) },
});
