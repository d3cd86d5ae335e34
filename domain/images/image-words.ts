/** Words of the image service that the shapes and the rules share. */

export const ARCHITECTURES = ['x86_64', 'aarch64'] as const;
export type Architecture = (typeof ARCHITECTURES)[number];

export const JOB_TYPES = ['create', 'customize'] as const;
export type JobType = (typeof JOB_TYPES)[number];

/** How a root file system is packed. */
export const IMAGE_FORMATS = ['tar', 'tar.gz', 'squashfs'] as const;
export type ImageFormat = (typeof IMAGE_FORMATS)[number];
