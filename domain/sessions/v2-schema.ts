/** Shapes of lane sessions on the v2 wire, as far as they differ from v3 (cfs-api 8, 9, 10, 13). */
import { z } from 'zod';
import { v2Shape } from '../v2-schema.ts';
import { SessionCreateSchema, SessionSchema } from './schema.ts';
import { V2_STATUS_MEMBERS } from './v2-status-patch.ts';

/** Body of POST /v2/sessions; names inside the target are those of v3. */
export const V2SessionCreate = v2Shape(SessionCreateSchema, {
  members: [
    'name',
    'configuration_name',
    'configuration_limit',
    'ansible_limit',
    'ansible_config',
    'ansible_verbosity',
    'ansible_passthrough',
    'target',
    'tags',
  ],
  change: { configuration_name: z.string() },
  ids: { input: 'SessionCreateV2' },
});

const { status } = SessionSchema.shape;

/** A session in answers; only names in `status.session` differ. */
export const V2Session = v2Shape(SessionSchema, {
  members: ['name', 'configuration', 'ansible', 'target', 'status', 'tags'],
  inner: {
    status: v2Shape(status, {
      members: ['artifacts', 'session'],
      inner: {
        session: v2Shape(status.shape.session, {
          members: V2_STATUS_MEMBERS,
        }),
      },
    }),
  },
  ids: { object: 'SessionV2' },
});
