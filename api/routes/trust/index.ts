import type { ApiLane } from '../../shared/api-shared.ts';
import { trustRoutes } from './trust-routes.ts';

export const trust: ApiLane = ({ db, site }) => ({
  tags: { trust: 'What sessions show to hosts, and whom hosts are to trust.' },
  muster: { trust: (app) => trustRoutes(app, { db, secrets: site.secrets }) },
});
