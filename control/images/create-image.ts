import { randomUUID } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { musterError } from '../../domain/errors.ts';
import type { ImageCreate, ImageLink, ImageView } from '../../domain/images/schema.ts';
import { findImage, type ImageRow, insertImage } from '../../store/images/images.ts';
import type { StoredLink } from '../../store/images/tables.ts';
import { viewOfImage } from './image-views.ts';
import type { ImageDependencies } from './ports.ts';

/** Makes the record of an image whose content, if any, is elsewhere. Throws `image_reference_unknown`. */
export async function createImage(
  deps: Pick<ImageDependencies, 'db' | 'clock'>,
  by: Acting,
  wanted: ImageCreate,
): Promise<ImageView> {
  const { name, arch = 'x86_64', link = null, metadata = {} } = wanted;
  const id = by.operation ?? randomUUID();
  const row = { ...newImage(deps, by, name, arch, id), link: link && outerLink(link), metadata };
  await insertImage(deps.db, row);
  return viewOfImage((await findImage(deps.db, id)) ?? row);
}

/** A record with nothing in it. */
export function newImage(
  { clock }: Pick<ImageDependencies, 'clock'>,
  { actor }: Acting,
  name: string,
  arch: ImageRow['arch'],
  id: string,
): ImageRow {
  const now = clock();
  return {
    id,
    name,
    arch,
    link: null,
    metadata: {},
    store_id: null,
    format: null,
    size: null,
    sha256: null,
    made_by: null,
    made_from: null,
    created_at: now,
    updated_at: now,
    actor,
  };
}

/** A link to a content elsewhere: what Muster keeps itself comes by import, so that nobody names its files. */
export function outerLink({ type, path, etag = '' }: ImageLink): StoredLink {
  if (type === 'file') {
    const detail = 'Links of the type file are made by Muster alone: import the file (./muster image import)';
    throw musterError('image_reference_unknown', detail, 'link.type');
  }
  return { type, path, etag };
}
