import { randomUUID } from 'node:crypto';
import { withJobDefaults } from '../../domain/images/job-defaults.ts';
import type { Db } from '../../store/connection/database.ts';
import { type ImageJobRow, insertImageJob } from '../../store/images/image-jobs.ts';

interface Wanted {
  storeId: string;
  key?: string;
  shell?: string;
  createdAt?: Date;
}

/** Records a job of an image as the API does, of the key and with the name of the shell that are given; default: of its own, now. */
export async function newImageJob(
  db: Db,
  { storeId, key = randomUUID(), shell = 'customize', createdAt = new Date() }: Wanted,
): Promise<ImageJobRow> {
  const image = randomUUID();
  const wanted = { job_type: 'customize' as const, image_root_archive_name: 'new', artifact_id: image };
  return insertImageJob(db, {
    id: randomUUID(),
    image_id: image,
    format: null,
    request: withJobDefaults(
      { ...wanted, public_key_id: key, ssh_containers: [{ name: shell, jail: true }] },
      'x86_64',
    ),
    arch: 'x86_64',
    public_key: 'ssh-ed25519 key',
    store_id: storeId,
    result_id: randomUUID(),
    created_at: createdAt,
    actor: null,
  });
}
