import { cancelSessions } from '../../../control/sessions/cancel-sessions.ts';
import type { ApiLane } from '../../shared/api-shared.ts';
import { cfsSessionRoutes } from './cfs-session-routes.ts';
import { sessionApi } from './dependencies.ts';
import { musterSessionRoutes } from './session-routes.ts';
import { sessionTopics } from './session-topics.ts';
import { SESSIONS_V2, SESSIONS_V3 } from './session-wires.ts';

export const sessions: ApiLane = (shared) => {
  const deps = sessionApi(shared);
  return {
    tags: { sessions: 'Runs of a configuration on its hosts.' },
    v3: (app) => cfsSessionRoutes(app, deps, SESSIONS_V3),
    v2: (app) => cfsSessionRoutes(app, deps, SESSIONS_V2),
    muster: { sessions: (app) => musterSessionRoutes(app, deps) },
    topics: sessionTopics(deps),
    stop: {
      async cancel(by, { reason }) {
        const { cancelled } = await cancelSessions(deps, by, { status: ['pending', 'running'], reason });
        return { sessions: cancelled };
      },
    },
  };
};
