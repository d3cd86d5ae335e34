/** What the engine notes of the images that a session customises. */

import { storableText } from '../../../domain/runs/storable-text.ts';
import type { OpenSessionImage } from '../../../domain/sessions/images/image-inventory.ts';
import type { ImagePhase } from '../../../domain/sessions/progress.ts';
import type { Db } from '../../../store/connection/database.ts';
import {
  listSessionImages,
  type SessionImageChange,
  type SessionImageRow,
  writeSessionImage,
} from '../../../store/sessions/session-images.ts';
import { type NoteDependencies, noteProgress } from '../session-progress.ts';

/**
 * Notes how one image is, and says so in the session's progress. What the row says already is not noted again: its `updated_at` is when there
 * was something new.
 */
export async function noteImage(
  deps: NoteDependencies,
  row: SessionImageRow,
  change: SessionImageChange,
  phase: ImagePhase,
): Promise<void> {
  const { message, ...rest } = change;
  const news = { ...rest, ...(message === undefined ? {} : { message: storableText(message) }) };
  const said: SessionImageChange = row;
  if (Object.entries(news).every(([key, value]) => said[key as keyof SessionImageChange] === value)) return;
  await writeSessionImage(deps.db, row.session_id, row.image_id, news, deps.clock());
  await noteImages(deps, row.session_id, phase);
}

/** Says in the session's progress how its images are. */
export async function noteImages(deps: NoteDependencies, sessionId: string, phase: ImagePhase): Promise<void> {
  const images = await listSessionImages(deps.db, sessionId);
  const steps = images.map(({ result_name, state, message }) => ({ resultName: result_name, state, message }));
  await noteProgress(deps, sessionId, { step: 'images', phase, images: steps });
}

/** The images whose shells are open, for the inventory. */
export async function openImages(db: Db, sessionId: string): Promise<OpenSessionImage[]> {
  const rows = await listSessionImages(db, sessionId);
  return rows.flatMap(({ image_id: image, result_name: resultName, job_id: job, host, port }) =>
    job === null || host === null || port === null ? [] : [{ image, resultName, job, host, port }],
  );
}
