/** Where the files of images are kept: a directory, which may be a volume that is mounted. */
import type { ImageFormat } from './image-words.ts';

/** What is known of a file once it was read from end to end. */
export interface FileFacts {
  format: ImageFormat;
  size: number;
  md5: string;
  sha256: string;
}

/** A file that came in and belongs to no image yet. */
export interface ReceivedFile extends FileFacts {
  /** What the store calls it. */
  token: string;
}

/** The manifest of an image in the store: its path there, and its MD5. */
export interface KeptFile {
  path: string;
  etag: string;
}

export interface FileToKeep {
  imageId: string;
  created: Date;
  facts: FileFacts;
}

/**
 * Errors: `image_format_unknown`, `image_too_large`, `image_disk_full`, `image_file_missing`. Nothing half-made is ever to be seen under an
 * image's id.
 */
export interface ImageFiles {
  /** Id of the directory, made with it: work that needs its files is for machines that have it. */
  readonly storeId: string;
  /** Says whose directory it is, unless that is said already; answers what is said: a text that is no id where somebody else wrote it. */
  claim(installation: string): Promise<string>;
  /** Takes a file in. What breaks off leaves nothing. */
  receive(source: AsyncIterable<Uint8Array>, limits: { maxBytes: number; keepFree: number }): Promise<ReceivedFile>;
  /** Makes what came in the file of an image, with its manifest. */
  keep(file: FileToKeep & { token: string }): Promise<KeptFile>;
  /** Removes what came in; harmless when it is gone. */
  discard(token: string): Promise<void>;
  /** Where the file is that a job makes; the name of its folder is the token by which it is kept. */
  fileForJob(jobId: string, format: ImageFormat): Promise<{ path: string; token: string }>;
  /** Path of an image's file. */
  fileOf(imageId: string, format: ImageFormat): string;
  /** The bytes of an image's file. */
  read(imageId: string, format: ImageFormat): Promise<{ size: number; bytes: AsyncIterable<Uint8Array> }>;
  /** Removes the file of an image, also one that is set aside; harmless when it is gone. */
  remove(imageId: string): Promise<void>;
  /** Sets the file of an image aside: nobody finds it there but who looks for it by hand. */
  setAside(imageId: string): Promise<void>;
  /** Brings back what was set aside, unless there is a file of the image. */
  bringBack(imageId: string): Promise<void>;
  /** Bytes that are free on the disk of the images. */
  free(): Promise<number>;
  /** Ids of images that are set aside for so long, ms, the oldest first. */
  aside(olderThanMs: number): Promise<string[]>;
  /** Ids of images that have something here since so long, ms. */
  list(olderThanMs: number): Promise<string[]>;
  /** What came in and that nobody has touched for so long, ms. */
  stale(olderThanMs: number): Promise<string[]>;
}
