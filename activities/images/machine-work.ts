/** What the parts of the work on an image share. */

import type { ImageLimits } from '../../control/images/run-image-job.ts';
import { isMusterError } from '../../domain/errors.ts';
import type { BuildLimits, ImageBuilder } from '../../domain/images/image-builder.ts';
import type { ImageFiles } from '../../domain/images/image-files.ts';
import type { Db } from '../../store/connection/database.ts';
import { type ImageJobRow, noteOnImageJob } from '../../store/images/image-jobs.ts';

/** Between two notes of the progress in the record, ms. */
const NOTE_MS = 5_000;
const GIB = 2 ** 30;

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

/** What a step of work on an image may take. */
export function limitsOf(deps: ImageWorkDependencies, { request }: ImageJobRow): BuildLimits {
  return {
    maxBytes: request.build_env_size * GIB,
    seconds: deps.imageLimits.stepSeconds,
    keepFree: deps.minFreeDisk,
  };
}

/** Says in the record that the disk is full, which is tried again for minutes. Returns the error. */
export async function toldIfFull({ db }: ImageWorkDependencies, jobId: string, error: unknown): Promise<unknown> {
  if (isMusterError(error) && error.code === 'image_disk_full') await noteOnImageJob(db, jobId, error.detail);
  return error;
}

/** Says now and then in the record how far the work is. */
export function noteProgress({ db }: ImageWorkDependencies, jobId: string, what: string): (bytes: number) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (bytes) => {
    if (performance.now() - last < NOTE_MS) return;
    last = performance.now();
    const size = `${(bytes / 2 ** 20).toFixed(0)} MiB`;
    // The work matters more than the word about it.
    noteOnImageJob(db, jobId, `${what}: ${size}`).catch(() => undefined);
  };
}
