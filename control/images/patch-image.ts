import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import {
  type ImagePatch,
  type ImageView,
  METADATA_BYTES,
  METADATA_KEYS,
  metadataSize,
} from '../../domain/images/schema.ts';
import { isUuid } from '../../domain/text/uuid.ts';
import { lockImage, updateImage } from '../../store/images/images.ts';
import { outerLink } from './create-image.ts';
import { viewOfImage } from './image-views.ts';
import type { ImageDependencies } from './ports.ts';
import { imageNotFound } from './read-images.ts';

/** Changes what is given. Throws `image_not_found`, `image_reference_unknown`, `image_request_invalid`. */
export async function patchImage(
  deps: Pick<ImageDependencies, 'db' | 'clock'>,
  by: Acting,
  id: string,
  { link, arch, metadata }: ImagePatch,
): Promise<ImageView> {
  if (!isUuid(id)) throw imageNotFound(id);
  return deps.db.transaction().execute(async (trx) => {
    const row = await lockImage(trx, id);
    if (row === null) throw imageNotFound(id);
    const changed = await updateImage(trx, id, {
      ...(link === undefined ? {} : { link: outerLink(link) }),
      ...(arch === undefined ? {} : { arch }),
      ...(metadata === undefined ? {} : { metadata: withMetadata(row.metadata, metadata) }),
      actor: by.actor,
      updated_at: deps.clock(),
    });
    return viewOfImage(changed);
  });
}

function withMetadata(
  now: Record<string, string>,
  { operation, key, value }: NonNullable<ImagePatch['metadata']>,
): Record<string, string> {
  const { [key]: _gone, ...others } = now;
  if (operation === 'remove') return others;
  if (value === undefined) throw musterError('image_request_invalid', `A value is needed for ${key}`, 'metadata.value');
  if (Object.keys(others).length >= METADATA_KEYS) {
    throw musterError(
      'image_request_invalid',
      `An image has at most ${METADATA_KEYS} keys of metadata`,
      'metadata.key',
    );
  }
  const changed = { ...others, [key]: value };
  const size = metadataSize(changed);
  // One of a former release may have more, and become smaller step by step.
  if (size > METADATA_BYTES && size > metadataSize(now)) {
    const detail = `The metadata of an image has at most ${METADATA_BYTES} bytes as JSON, and this would be ${size}`;
    throw musterError('image_request_invalid', detail, 'metadata.value');
  }
  return changed;
}
