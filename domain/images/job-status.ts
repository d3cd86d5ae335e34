import { IMAGE_JOB_STATUSES, type ImageJobStatus } from './image-service.ts';

/** What may follow what when an image is customised (cfs-flows 7); a step may be begun again after its machine died. */
const FOLLOWING: Readonly<Partial<Record<ImageJobStatus, readonly ImageJobStatus[]>>> = {
  creating: ['fetching_image', 'error'],
  fetching_image: ['fetching_image', 'waiting_on_user', 'error'],
  waiting_on_user: ['fetching_image', 'waiting_on_user', 'packaging_artifacts', 'error'],
  packaging_artifacts: ['packaging_artifacts', 'success', 'error'],
};

/** Whether a job in one status may come to another; none leaves an end. */
export function mayFollow(from: ImageJobStatus, to: ImageJobStatus): boolean {
  return FOLLOWING[from]?.includes(to) ?? false;
}

/** Statuses from which `to` may be reached. */
export function statusesBefore(to: ImageJobStatus): ImageJobStatus[] {
  return IMAGE_JOB_STATUSES.filter((from) => mayFollow(from, to));
}

export function isEnd(status: ImageJobStatus): boolean {
  return status === 'success' || status === 'error';
}

/** Statuses in which a job works on its machine, one at a time. */
export const WORKING: readonly ImageJobStatus[] = ['fetching_image', 'packaging_artifacts'];
