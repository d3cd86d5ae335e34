/** The settings of sessions on images: the image service of the site that they use, and how long they wait for one. */
import { z } from 'zod';
import { baseUrl } from './variable-forms.ts';

const seconds = z.coerce.number().int().min(1).max(604_800);

export const IMS_VARIABLES = {
  MUSTER_IMS_URL: baseUrl.optional().meta({
    description: 'Base URL of an image service of the site, with its prefix if it has one.',
    fallback: "Muster's own service",
    change: 'Set it when the site has an image service.',
  }),
  MUSTER_IMS_TOKEN: z.string().min(1).optional().meta({
    description: 'Bearer token for the image service of the site.',
    change: 'Set it, or `MUSTER_IMS_TOKEN_FILE`, when that service asks for a token.',
  }),
  MUSTER_IMS_TOKEN_FILE: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        'File with the bearer token for the image service of the site. Muster reads the file for each request, so ' +
        'the token may be renewed.',
      change: 'Set it in place of `MUSTER_IMS_TOKEN` when the token changes.',
    }),
  MUSTER_IMS_WAIT: seconds.default(1_800).meta({
    description:
      'Longest wait of a session for its images to open, and again for the new images, with nothing new from ' +
      'any image. In all a session waits at most that long for each image.',
    unit: 's',
    change: 'Raise it for large images or slow disks.',
  }),
  MUSTER_IMS_QUEUE_WAIT: seconds.default(86_400).meta({
    description:
      "Longest wait of an image job for its turn at Muster's own image service, to open and again to be packed. " +
      '`MUSTER_IMS_WAIT` does not count this time.',
    unit: 's',
    change: 'Raise it when image jobs queue for more than a day.',
  }),
};

/** What does not fit together, as variable and sentence. */
export function imsMistakes(env: {
  MUSTER_IMS_TOKEN?: string | undefined;
  MUSTER_IMS_TOKEN_FILE?: string | undefined;
}): [name: string, message: string][] {
  const both = env.MUSTER_IMS_TOKEN !== undefined && env.MUSTER_IMS_TOKEN_FILE !== undefined;
  return both ? [['MUSTER_IMS_TOKEN_FILE', 'give it or MUSTER_IMS_TOKEN, not both']] : [];
}
