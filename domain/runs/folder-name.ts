/** What becomes the name of a folder or of a file: nothing else may, so that no id leads out of the folder that it belongs to. */
import { musterError } from '../errors.ts';
import { ID_FORM } from './id-schema.ts';

/** Whether `id` may become a name on the disk. */
export function isFolderName(id: unknown): id is string {
  return typeof id === 'string' && ID_FORM.test(id);
}

/**
 * The id as the name of a folder.
 * @throws `bad_data` for what is no id: a path, an empty text, capital letters
 */
export function folderName(id: string): string {
  if (isFolderName(id)) return id;
  throw musterError('bad_data', `not an id (a-z, 0-9 and -, at most 100 characters): ${JSON.stringify(id)}`);
}
