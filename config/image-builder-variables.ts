import { isIP } from 'node:net';
import { z } from 'zod';
import { flag } from './variable-forms.ts';

const seconds = z.coerce.number().int().min(1).max(2_000_000);

/** Settings of the built-in image service. Bytes are declared beside the others of their form. */
export const IMAGE_BUILDER_VARIABLES = {
  /** Whether Muster is an image service itself. Default on; off where one of the site is named, or none is wanted. */
  MUSTER_IMAGE_SERVICE: flag.default(true),
  /**
   * Directory of images, jobs included. Default: `images` in the data directory. No part of its path may be writable for others,
   * since logins land in it.
   */
  MUSTER_IMAGES_DIR: z.string().min(1).optional(),
  /** Directory of unpacked images, for root alone. Default: `jobs` in the directory of images; its own disk where that one is shared. */
  MUSTER_IMAGE_JOBS_DIR: z.string().min(1).optional(),
  /** Numbers of the user and group to whom a worker that is root gives the files of images. Default: it keeps them. */
  MUSTER_IMAGES_OWNER: z
    .string()
    .regex(/^[0-9]{1,9}:[0-9]{1,9}$/, 'must be the numbers of a user and a group, as 1000:1000')
    .transform((value) => {
      const [uid = 0, gid = 0] = value.split(':').map(Number);
      return { uid, gid };
    })
    .optional(),
  /** Ports of the shells, first and last. A port is not used again for 10 minutes, so there are more of them than jobs. */
  MUSTER_IMAGE_PORTS: z
    .string()
    .regex(/^[0-9]+-[0-9]+$/, 'must be two ports with a hyphen')
    .default('22200-22399')
    .transform((value) => value.split('-').map(Number) as [number, number])
    .refine(([from, to]) => from >= 1 && to <= 65_535 && from <= to, {
      error: 'must be two ports, the smaller one first',
    }),
  /** Address on which the shells listen; a name would have several, or none by the time. Default loopback: sessions on this machine. */
  MUSTER_IMAGE_HOST: z
    .string()
    .refine((value) => isIP(value) !== 0, {
      error: 'must be an IP address of this machine; a name that clients are told is MUSTER_IMAGE_PUBLIC_HOST',
    })
    .default('127.0.0.1'),
  /** Name or address that clients are told, where it is another one: a name stays when the address changes. Default: MUSTER_IMAGE_HOST. */
  MUSTER_IMAGE_PUBLIC_HOST: z.string().min(1).optional(),
  /** Image jobs that have their root on the disk at once; others wait, but for those of a session that has begun: it needs all of its own. */
  MUSTER_IMAGE_JOBS: z.coerce.number().int().min(1).default(10),
  /** Image jobs that unpack or pack at once. Default 1: two share the same disk and are no faster. */
  MUSTER_IMAGE_WORK: z.coerce.number().int().min(1).default(1),
  /** Longest time to unpack or to pack an image, seconds. */
  MUSTER_IMAGE_TIMEOUT: seconds.default(3_600),
  /** How long an image job waits for whoever works in its shell, seconds. Default a day. */
  MUSTER_IMAGE_USER_WAIT: seconds.default(86_400),
  /** Whether an image needs kernel and initrd in /boot to be packed. Default off: containers and roots for NFS have none. */
  MUSTER_IMAGE_BOOT_FILES: flag.default(false),
  /** What image jobs that do not say it get as `require_dkms`. */
  MUSTER_IMAGE_DKMS: flag.default(true),
};
