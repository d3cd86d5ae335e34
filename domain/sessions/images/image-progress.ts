/** How far the images of a session are, in a sentence for people. */

/**
 * `waiting`: no job yet; `preparing`: its job makes the shell; `open`: one can log in; `packaging`: the new image is made;
 * `customized`: it is there; `failed`; `dropped`: it was not to become one.
 */
export const IMAGE_STATES = ['waiting', 'preparing', 'open', 'packaging', 'customized', 'failed', 'dropped'] as const;
export type SessionImageState = (typeof IMAGE_STATES)[number];

/** States that an image keeps whatever is released after it. */
export const KEPT_IMAGE_STATES = ['customized', 'failed'] as const satisfies readonly SessionImageState[];

/** Returns whether nothing more comes of an image. */
export function isImageOver(state: SessionImageState): boolean {
  return state === 'dropped' || KEPT_IMAGE_STATES.some((kept) => kept === state);
}

/** The part of a session's image that the sentence is made of. */
export interface ImageStep {
  resultName: string;
  state: SessionImageState;
  /** What it waits for, or why it failed. */
  message: string;
}

/** Images that a sentence names. */
const NAMED = 3;

/** `1 of 2 images open; web_cfs_x: fetching_image`; `state` is what all shall reach. */
export function describeImages(images: readonly ImageStep[], state: 'open' | 'customized'): string {
  const there = images.filter((image) => image.state === state).length;
  const others = images.filter((image) => image.state !== state);
  const named = others.slice(0, NAMED).map(({ resultName, message, state: at }) => `${resultName}: ${message || at}`);
  if (others.length > NAMED) named.push(`and ${others.length - NAMED} more`);
  return [`${there} of ${images.length} images ${state}`, ...named].join('; ');
}
