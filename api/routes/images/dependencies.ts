import type { ApiShared } from '../../shared/api-shared.ts';

export type ImageApi = ReturnType<typeof imageApi>;

/** Returns what the routes of images and of the image service work with. */
export function imageApi({ db, log, clock, settings, temporal, imageFiles }: ApiShared) {
  const { imageSettings, stallMs } = settings;
  return {
    ...{ db, log, clock, imageSettings, stallMs },
    tell: temporal.tell,
    /** The directory of images as it is now. */
    get imageFiles() {
      return imageFiles();
    },
  };
}
