/** The settings of the built-in image service. */
import { isIP } from 'node:net';
import { z } from 'zod';
import { bytes, flag } from './forms.ts';

const seconds = z.coerce.number().int().min(1).max(2_000_000);

export const images = {
  settings: {
    MUSTER_IMAGE_SERVICE: flag.default(true).meta({
      description: 'Whether Muster is an image service itself.',
      change: 'Set `0` when the site has an image service, or wants none.',
    }),
    MUSTER_IMAGES_DIR: z.string().min(1).optional().meta({
      description:
        'Directory of images, jobs included. No part of its path may be writable for others, since logins land in it.',
      fallback: '`images` in the data directory',
      change: 'Set it for a disk of its own; on a cluster it is the mount of a PersistentVolume.',
      path: true,
    }),
    MUSTER_IMAGE_JOBS_DIR: z.string().min(1).optional().meta({
      description: 'Directory of unpacked images, for root alone.',
      fallback: '`jobs` in the directory of images',
      change: 'Set it to a disk of its own when the directory of images is shared.',
      path: true,
    }),
    MUSTER_IMAGES_OWNER: z
      .string()
      .regex(/^[0-9]{1,9}:[0-9]{1,9}$/, 'must be the numbers of a user and a group, as 1000:1000')
      .transform((value) => {
        const [uid = 0, gid = 0] = value.split(':').map(Number);
        return { uid, gid };
      })
      .optional()
      .meta({
        description:
          'Numbers of the user and group, as `1000:1000`, to whom a worker that is root gives the files of images.',
        fallback: 'the worker keeps the files',
        change: 'Set it when the API is another user than the worker.',
      }),
    MUSTER_IMAGE_PORTS: z
      .string()
      .regex(/^[0-9]+-[0-9]+$/, 'must be two ports with a hyphen')
      .default('22200-22399')
      .transform((value) => value.split('-').map(Number) as [number, number])
      .refine(([from, to]) => from >= 1 && to <= 65_535 && from <= to, {
        error: 'must be two ports, the smaller one first',
      })
      .meta({
        description: 'Ports of the shells, first and last. A port rests for 10 minutes after its job.',
        change: 'Set it when other programs use these ports; keep more ports than jobs.',
      }),
    MUSTER_IMAGE_HOST: z
      .string()
      .refine((value) => isIP(value) !== 0, {
        error: 'must be an IP address of this machine; a name that clients are told is MUSTER_IMAGE_PUBLIC_HOST',
      })
      .default('127.0.0.1')
      .meta({
        description: 'IP address on which the shells listen; a name is refused.',
        change: 'Set it when sessions run on other machines.',
      }),
    MUSTER_IMAGE_PUBLIC_HOST: z.string().min(1).optional().meta({
      description: 'Name or address of the shells that clients are told.',
      fallback: '`MUSTER_IMAGE_HOST`',
      change: 'Set a name when the address can change.',
    }),
    MUSTER_IMAGE_JOBS: z.coerce
      .number()
      .int()
      .min(1)
      .default(10)
      .meta({
        description:
          'Image jobs with an unpacked root at the same time. Other jobs wait. Jobs of a session that has begun do ' +
          'not wait.',
        unit: 'jobs',
        change: 'Set it by the room on the disk.',
      }),
    MUSTER_IMAGE_WORK: z.coerce.number().int().min(1).default(1).meta({
      description: 'Image jobs that unpack or pack at the same time. Two jobs share the disk and are no faster.',
      unit: 'jobs',
      change: 'Raise it when the disk serves two jobs faster than one after the other.',
    }),
    MUSTER_IMAGE_TIMEOUT: seconds.default(3_600).meta({
      description: 'Longest time to unpack or to pack an image.',
      unit: 's',
      change: 'Raise it for very large images or slow disks.',
    }),
    MUSTER_IMAGE_USER_WAIT: seconds.default(86_400).meta({
      description: 'Longest time that an image job waits for the user of its shell.',
      unit: 's',
      change: 'Lower it when forgotten shells hold the disk.',
    }),
    MUSTER_IMAGE_BOOT_FILES: flag.default(false).meta({
      description: 'Whether an image needs kernel and initrd in `/boot` to be packed.',
      change: 'Set `1` when all images boot from these files; containers and roots for NFS have none.',
    }),
    MUSTER_IMAGE_DKMS: flag.default(true).meta({
      description: '`require_dkms` of image jobs that do not give it.',
      change: 'Set `0` when image jobs of the site need no DKMS.',
    }),
    MUSTER_IMAGE_MAX: bytes.default(64 * 2 ** 30).meta({
      description: 'Largest file of an image that comes in.',
      unit: 'bytes',
      change: 'Raise it for larger images.',
    }),
  },
};
