import type { ApiLane } from '../../shared/api-shared.ts';
import { tokenRoutes } from './token-routes.ts';

export const access: ApiLane = (shared) => ({ muster: { tokens: (app) => tokenRoutes(app, shared) } });
