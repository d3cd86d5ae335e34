import type { ImageFiles } from '../../domain/images/image-files.ts';
import type { Db } from '../../store/connection/database.ts';
import { readInstallationId } from '../../store/connection/installation.ts';

/**
 * Why the directory of images is not this installation's, or null when it is. The directory says whose it is; one that says nothing, new or from a
 * former release, is this one's from now on. With another database than the one that knows its images all of them would seem to be nobody's.
 */
export async function foreignDirectory({
  db,
  imageFiles,
}: {
  db: Db;
  imageFiles: Pick<ImageFiles, 'claim'>;
}): Promise<string | null> {
  const own = await readInstallationId(db);
  const owner = await imageFiles.claim(own);
  if (owner === own) return null;
  return (
    `the directory of images (MUSTER_IMAGES_DIR) belongs to the installation ${owner || '(unknown)'}, and this database to ${own}: ` +
    'nothing in it is changed. Use the database that it belongs to; if it is to belong to this one, remove its file installation-id'
  );
}
