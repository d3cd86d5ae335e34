/** What the parts of the work on an image share. */

import type { ImageLimits } from '../../control/images/run-image-job.ts';
import type { ImageBuilder } from '../../domain/images/image-builder.ts';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import type { Db } from '../../store/connection/database.ts';
import type { ImageJobRow } from '../../store/images/image-jobs.ts';
import { findImageJob } from '../../store/images/image-jobs.ts';

export interface ImageWorkDependencies {
  db: Db;
  clock(): Date;
  imageFiles: ImageFiles;
  imageBuilder: ImageBuilder;
  imageLimits: ImageLimits;
  imageShells: ShellSettings;
  /** Bytes that must stay free on the disk. */
  minFreeDisk: number;
  /** Whether an image needs kernel and initrd. */
  bootFiles: boolean;
}

export interface ShellSettings {
  /** Queue of this machine: ports are its own. */
  queue: string;
  /** First and last port. */
  ports: readonly [number, number];
  /** Where they listen. */
  address: string;
  /** Name or address that clients are told. */
  host: string;
}

export async function openJob({ db }: ImageWorkDependencies, jobId: string): Promise<ImageJobRow | null> {
  return isUuid(jobId) ? findImageJob(db, jobId) : null;
}
