/** What the image service works with. */
import type { ImageFiles } from '../../domain/images/image-files.ts';
import type { Db } from '../../store/connection/database.ts';
import type { Tell } from '../temporal/tell.ts';

export interface ImageDependencies {
  db: Db;
  tell: Tell;
  /** Null where this process has no directory of images. */
  imageFiles: ImageFiles | null;
  imageSettings: ImageSettings;
  clock(): Date;
  log: { warn(fields: object, message: string): void };
}

/** Limits of files that come in. */
export interface ImageSettings {
  /** Largest file, bytes. */
  maxBytes: number;
  /** Bytes that must stay free. */
  keepFree: number;
  /** `require_dkms` of jobs that do not say it. */
  dkms: boolean;
}
