/**
 * What a session asks of an image service, and what it answers: the part of its contract that customising an image needs
 * (cfs-flows 7). Answered over HTTP by a service of the site, or by Muster's own.
 */

/** An image as the service knows it. */
export interface Image {
  id: string;
  name: string;
}

/** Statuses of an image job in the order of customising; `error` and `success` are the ends. */
export const IMAGE_JOB_STATUSES = [
  'creating',
  'fetching_image',
  'fetching_recipe',
  'waiting_for_repos',
  'building_image',
  'waiting_on_user',
  'packaging_artifacts',
  'success',
  'error',
] as const;
export type ImageJobStatus = (typeof IMAGE_JOB_STATUSES)[number];

/** Where one looks for a shell. */
export interface ImageEndpoint {
  host: string;
  port: number;
}

/** The shell of a job: `connection` is null until it has an address. */
export interface ImageShell {
  name: string;
  connection: ImageEndpoint | null;
}

export interface ImageJob {
  id: string;
  /** A word of `IMAGE_JOB_STATUSES`, or one that is not known here. */
  status: string;
  /** The image that is customised. */
  imageId: string;
  /** Name of the image that is to come of it. */
  resultName: string;
  /** The key that opens its shell; null where the service does not say. */
  publicKeyId: string | null;
  /** The image that came of it; its being there means success, whatever the status says. */
  resultId: string | null;
  shells: ImageShell[];
  /** Why it ended in `error`, if the service says so; else ''. */
  message: string;
}

/** A public key as the service keeps it. */
export interface ImageKey {
  id: string;
  name: string;
  publicKey: string;
}

/** A job that customises one image for a session, in a shell whose root is the image. */
export interface NewImageJob {
  imageId: string;
  resultName: string;
  publicKeyId: string;
  /** Name of its one ssh container: the session's. */
  shellName: string;
  requireDkms: boolean;
}

/**
 * Errors: `image_unknown` (there is no such image), `image_service_refused` (the service says 4xx, with its reason), and,
 * worth another try, `image_service_unavailable`. After the last one a create may have been done all the same.
 */
export interface ImageService {
  getImage(id: string, signal: AbortSignal): Promise<Image>;
  /** Answers the id of the key. */
  createPublicKey(name: string, publicKey: string, signal: AbortSignal): Promise<string>;
  /** The keys of that name: also what is left of a create whose answer was lost. Empty where the service lists none. */
  findPublicKeys(name: string, signal: AbortSignal): Promise<ImageKey[]>;
  /** Harmless when it is gone. */
  deletePublicKey(id: string, signal: AbortSignal): Promise<void>;
  createJob(job: NewImageJob, signal: AbortSignal): Promise<ImageJob>;
  /** Null when there is no such job. */
  getJob(id: string, signal: AbortSignal): Promise<ImageJob | null>;
  listJobs(signal: AbortSignal): Promise<ImageJob[]>;
  /** Ends it and everything of it; harmless when it is gone. */
  deleteJob(id: string, signal: AbortSignal): Promise<void>;
}
