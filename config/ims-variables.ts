/** The settings of sessions on images: the image service of the site that they use, and how long they wait for one. */
import { z } from 'zod';

const seconds = z.coerce.number().int().min(1).max(604_800);

export const IMS_VARIABLES = {
  /** Base URL of an image service of the site, with its prefix if it has one. Default: Muster's own. */
  MUSTER_IMS_URL: z
    .url({ protocol: /^https?$/ })
    .transform((value) => value.replace(/\/+$/, ''))
    .optional(),
  /** Bearer token for it. Default: none. */
  MUSTER_IMS_TOKEN: z.string().min(1).optional(),
  /** File with that token, read for each request, so that it may be renewed. */
  MUSTER_IMS_TOKEN_FILE: z.string().min(1).optional(),
  /**
   * Longest wait of a session for its images to open, and again for the new ones, with nothing new from any of them, seconds; in all so
   * long for each of them. Default 30 min.
   */
  MUSTER_IMS_WAIT: seconds.default(1_800),
  /**
   * Longest wait for the turn of an image at Muster's own image service, to open and again to be packed, seconds: of a session, for which
   * such a time is no part of MUSTER_IMS_WAIT, and of any job there. Default one day.
   */
  MUSTER_IMS_QUEUE_WAIT: seconds.default(86_400),
};

/** What does not fit together, as variable and sentence. */
export function imsMistakes(env: {
  MUSTER_IMS_TOKEN?: string | undefined;
  MUSTER_IMS_TOKEN_FILE?: string | undefined;
}): [name: string, message: string][] {
  const both = env.MUSTER_IMS_TOKEN !== undefined && env.MUSTER_IMS_TOKEN_FILE !== undefined;
  return both ? [['MUSTER_IMS_TOKEN_FILE', 'give it or MUSTER_IMS_TOKEN, not both']] : [];
}
