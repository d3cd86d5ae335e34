/** The settings of the audit: how much of it is kept. */
import { z } from 'zod';

export const audit = {
  settings: {
    MUSTER_AUDIT_DAYS: z.coerce.number().int().min(1).max(36_500).default(90).meta({
      description: 'How long audit records are kept.',
      unit: 'days',
      change: 'Set it by the rules of the site.',
    }),
    MUSTER_AUDIT_ROWS: z.coerce.number().int().min(1_000).default(10_000_000).meta({
      description: 'Audit records that are kept at most, the newest. A million takes about 0.5 GiB.',
      unit: 'records',
      change: 'Set it by the room of the database.',
    }),
  },
};
