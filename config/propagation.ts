/** The settings of propagation. */
import { z } from 'zod';

export const propagation = {
  settings: {
    MUSTER_CONNECTION_EVENTS: z
      .enum(['full', 'dependency', 'reaction', 'none'])
      .default('full')
      .meta({
        description:
          'Which events a connection of two resources makes that does not say so itself: `dependency` (order), ' +
          '`reaction` (reload and run again), `full` (both) or `none`.',
        change: 'Set it where events are written by hand.',
      }),
  },
};
