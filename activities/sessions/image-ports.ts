/** What the image activities work with. */

import type { ImageKeys } from '../../control/sessions/images/image-keys.ts';
import type { ImageService } from '../../domain/images/image-service.ts';
import type { RunnerKind } from '../../domain/runs/runner.ts';
import type { ImageShells } from '../../domain/sessions/ports.ts';
import type { Db } from '../../store/connection/database.ts';

export interface ImageDependencies {
  db: Db;
  /** Null: this installation has none. */
  imageService: ImageService | null;
  imageShells: ImageShells;
  imageKeys: ImageKeys;
  clock(): Date;
  /** Longest wait for images without news; in all, for each of them; seconds. */
  imageWaitSeconds: number;
  /** Longest wait for the turn of an image at the image service, which does not count as the other; seconds. */
  imageQueueSeconds: number;
  /** Where layers run of sessions that do not say it themselves. */
  defaultRunner?: RunnerKind;
}
