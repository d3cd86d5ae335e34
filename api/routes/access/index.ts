import { readAccessRevision } from '../../../store/access/revisions.ts';
import { topicOfList } from '../../server/streaming/topic-watches.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { meRoutes } from './me-routes.ts';
import { signInRoutes } from './sign-in-routes.ts';
import { tokenRoutes } from './token-routes.ts';

export const access: ApiLane = (shared, { lanes }) => ({
  tags: { tokens: 'Tokens of this API.', 'sign-in': 'Sign-in of browsers, and who asks.' },
  muster: {
    tokens: (app) => tokenRoutes(app, shared),
    'sign-in': async (app) => {
      await signInRoutes(app, shared);
      await meRoutes(app, lanes);
    },
  },
  topics: { access: topicOfList(shared.streams, () => readAccessRevision(shared.db), { least: 'admin' }) },
});
