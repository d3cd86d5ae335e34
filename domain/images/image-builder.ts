/**
 * What works on root file systems: unpacks an image, opens a private environment with a login into it, and packs the result
 * (cfs-flows 7, the built-in image builder). Everything of a job lies in a folder of its own, by the job's id, and is found
 * there again by whoever comes next: each call may be repeated after any crash.
 *
 * Failures are errors of the catalogue: `image_builder_unavailable`, `image_root_unsafe`, `image_archive_invalid`,
 * `image_too_large`, `image_disk_full`, `image_wait_timeout`, `image_port_taken`, `image_environment_failed`, `image_step_killed`,
 * `image_pack_failed`, `image_boot_file_missing`. Of these only `image_port_taken` (take another port), `image_disk_full` and
 * `image_step_killed` are worth another try.
 */
import type { ImageFormat } from './image-words.ts';

/** What a step may take. */
export interface BuildLimits {
  /** Largest root file system, in bytes on disk. */
  maxBytes: number;
  /** Longest time of the step, in seconds. */
  seconds: number;
  /** Bytes that must stay free on the disk; 0: until it is full. */
  keepFree: number;
}

/** Told about once a second while a step works; `bytes` of the root (unpacking) or of the new file (packing) are there. */
export type BuildProgress = (bytes: number) => void;

export interface UnpackRequest {
  jobId: string;
  /** The image's file; it is only read. */
  source: string;
  format: ImageFormat;
  limits: BuildLimits;
}

export interface OpenRequest {
  jobId: string;
  /** One line as in `authorized_keys`; this key alone is let in, as root. */
  publicKey: string;
  /** Port of the login. */
  port: number;
  /** Address it listens on; default 127.0.0.1. */
  address?: string;
  /** Whether the login lands in the image; else beside it, with the image at /mnt/image/image-root. */
  jail: boolean;
  /** Name of the host inside. */
  hostname: string;
  /** What a login finds in its environment (IMS_JOB_ID, IMS_ARCH, IMS_DKMS_ENABLED). */
  environment: Readonly<Record<string, string>>;
}

/** An environment that is open. */
export interface OpenImage {
  port: number;
  /** The host's key: type and key, as in a known_hosts file after the address. */
  hostKey: string;
  /** What will make work in it difficult, for people: no python in the image. */
  warnings: string[];
}

/** `gone`: not opened, or its processes are not there; `complete` and `failed`: the user left that marker. */
export type ImageState = 'gone' | 'open' | 'complete' | 'failed';

export interface PackRequest {
  /** The job whose root is packed, or under whose name a folder is. */
  jobId: string;
  /** Another folder than the root of the job (an image that is imported from a folder). */
  folder?: string;
  /** The new file; replaced if it is there, and never half there. */
  target: string;
  format: ImageFormat;
  /** A file of this format whose compression is taken over (squashfs). */
  like?: string;
  /** Files that must be in the root, as paths inside (`boot/vmlinuz`). */
  needed?: readonly string[];
  limits: BuildLimits;
}

export interface PackedImage {
  size: number;
  md5: string;
  sha256: string;
}

export interface ImageBuilder {
  /** What this machine lacks to do it, each with its Debian package or its remedy; empty when it can. */
  check(): Promise<string[]>;
  /** The root file system of a job, whether it is there or not. */
  rootOf(jobId: string): string;
  /**
   * Unpacks the image to the root of the job, from the beginning if somebody began before. Nothing is ever written outside of the
   * root, whatever the file says. Answers the bytes on disk.
   */
  unpack(request: UnpackRequest, signal: AbortSignal, progress: BuildProgress): Promise<number>;
  /**
   * Opens the environment, or finds the one that is open with its port and key. Resolves when the login answers. Markers of
   * before are removed when it is opened, never when it is found.
   */
  open(request: OpenRequest, signal: AbortSignal): Promise<OpenImage>;
  state(jobId: string): Promise<ImageState>;
  /** Bytes on disk of all that the job has: its root, and what was written beside it. */
  size(jobId: string): Promise<number>;
  /**
   * Ends whatever works for the job: every process of its environment, or a step that another worker began. Resolves when none is
   * left. What was put into the root for the work (and the markers) is taken out again. Whose signal was aborted ends nobody.
   */
  close(jobId: string, signal?: AbortSignal): Promise<void>;
  /** Packs the root of a closed job, or a folder. */
  pack(request: PackRequest, signal: AbortSignal, progress: BuildProgress): Promise<PackedImage>;
  /** Closes the job and removes its folder. */
  remove(jobId: string): Promise<void>;
  /** Bytes free on the disk of the roots. */
  free(): Promise<number>;
  /** Ids of the jobs that have a folder. */
  list(): Promise<string[]>;
}
