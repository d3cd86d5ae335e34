import type { ApiLane } from '../../shared/api-shared.ts';
import { tokenRoutes } from './token-routes.ts';

export const access: ApiLane = (shared) => ({
  tags: { tokens: 'Tokens of this API.' },
  muster: { tokens: (app) => tokenRoutes(app, shared) },
});
