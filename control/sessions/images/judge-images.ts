/** Which of a session's images become new ones (cfs-flows 3.4, 8.8). */

import type { HostStatus } from '../../../domain/runs/schema.ts';
import { isCheck } from '../../../domain/sessions/check-mode.ts';
import { imageGroups, imagesOf } from '../../../domain/sessions/images/image-names.ts';
import { type ImageLayer, imageFault, isLeftOut, isNotReached } from '../../../domain/sessions/images/image-success.ts';
import type { Db } from '../../../store/connection/database.ts';
import { readHostLayers } from '../../../store/runs/host-result-reads.ts';
import { listSessionImages, type SessionImageRow } from '../../../store/sessions/session-images.ts';
import { readAttempts } from '../../../store/sessions/session-reads.ts';
import type { SessionRow } from '../../../store/sessions/sessions.ts';
import type { NoteDependencies } from '../session-progress.ts';
import { noteImage } from './session-images.ts';

/** Of a limit so much is said in a sentence. */
const SHOWN_LIMIT = 100;

/**
 * Why each image must not become a new one, by its id; good ones are absent. Those that the limit has left out, and all of a
 * check, are recorded as `dropped`.
 * @param exitCode of a pod that runs its layers by itself and reports no results of hosts: it decides over all
 */
export async function judgeImages(
  deps: NoteDependencies,
  session: SessionRow,
  exitCode: number | null | undefined,
): Promise<Record<string, string>> {
  const { db } = deps;
  const rows = await listSessionImages(db, session.id);
  const images = rows.map(({ image_id }) => image_id);
  const faults: Record<string, string> = {};
  if (isCheck(session)) return checkedOnly(deps, rows);
  const { selected, ran } = await layersOf(db, session, images);
  const limit = limitOf(session);
  for (const row of rows) {
    const { image_id: image } = row;
    if (isLeftOut(image, limit, selected, ran)) {
      const message = `left out by the limit ${limit.limit?.slice(0, SHOWN_LIMIT)}`;
      faults[image] = message;
      await noteImage(deps, row, { state: 'dropped', message }, 'teardown');
      continue;
    }
    const fault = exitCode === undefined ? imageFault(image, selected, ran) : faultOfAll(exitCode);
    if (fault !== null) faults[image] = fault;
  }
  return faults;
}

async function checkedOnly(deps: NoteDependencies, rows: readonly SessionImageRow[]): Promise<Record<string, string>> {
  const message = 'a check makes no image';
  for (const row of rows) await noteImage(deps, row, { state: 'dropped', message }, 'teardown');
  return Object.fromEntries(rows.map(({ image_id }) => [image_id, message]));
}

/**
 * The images of an ended session of which no new one came though one was to: all but those that did and those that the limit has left out.
 */
export async function imagesNotMade(db: Db, session: SessionRow): Promise<string[]> {
  const images = imagesOf(session.target);
  const rows = await listSessionImages(db, session.id);
  const made = new Set(rows.flatMap(({ state, image_id }) => (state === 'customized' ? [image_id] : [])));
  const { selected, ran } = await layersOf(db, session, images);
  const limit = limitOf(session);
  return images.filter((image) => !made.has(image) && !isLeftOut(image, limit, selected, ran));
}

/** The images of a session that a layer which failed on others has still to run on. Empty for sessions on other targets. */
export async function imagesNotReached(db: Db, session: SessionRow, layer: number): Promise<string[]> {
  if (session.target.definition !== 'image') return [];
  const images = imagesOf(session.target);
  const { ran } = await layersOf(db, session, images);
  return images.filter((image) => isNotReached(image, layer, limitOf(session), ran));
}

const faultOfAll = (exitCode: number | null): string | null =>
  exitCode === 0 ? null : `the layers ended with exit status ${exitCode}`;

const limitOf = ({ ansible_limit: limit, target }: SessionRow) => ({ limit, groups: imageGroups(target) });

/** The layers that were to run, and what the images reached in those that ran. */
async function layersOf(db: Db, session: SessionRow, images: string[]) {
  const { layers, debug_playbook } = session.snapshot;
  const selected = debug_playbook === null ? layers.map(({ index }) => index) : [0];
  const [attempts, results] = await Promise.all([readAttempts(db, session.id), readHostLayers(db, session.id, images)]);
  const ran = selected.flatMap((layer): ImageLayer[] => {
    // Of a layer that was retried, the last attempt decides how it ended.
    const last = attempts.findLast((attempt) => attempt.layer === layer);
    if (last === undefined) return [];
    const ofLayer = results.filter((result) => result.layer === layer);
    const reached = ofLayer.flatMap(({ host, status }): [string, HostStatus][] =>
      status === 'not_reached' ? [] : [[host, status === 'running' ? 'incomplete' : status]],
    );
    return [{ layer, exitCode: last.state === 'ended' ? last.exit_code : null, results: new Map(reached) }];
  });
  return { selected, ran };
}
