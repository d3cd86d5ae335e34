/** Table of the images that sessions customise, as Kysely sees it. */
import type { Generated } from 'kysely';
import type { ImageState } from '../domain/sessions/image-progress.ts';
import type { OptionalTime, Time } from './connection/column-types.ts';

export interface SessionImagesTable {
  session_id: string;
  image_id: string;
  /** Place among the images of the session, 0 first. */
  place: number;
  result_name: string;
  /** The session's key at the image service. */
  public_key_id: string | null;
  /** Its job at the image service; null until the answer to its making is known. */
  job_id: string | null;
  /** Whether a job was asked for: it may be there although nobody has its id. */
  posted: Generated<boolean>;
  /**
   * When the session's key, and later its job, was asked for last; null once nothing can appear of which nobody has the id, and where a former
   * release asked.
   */
  posted_at: OptionalTime;
  host: string | null;
  port: number | null;
  state: ImageState;
  /** The image that came of it. */
  result_id: string | null;
  message: string;
  created_at: Time;
  /** When its job was asked for first. */
  started_at: OptionalTime;
  /** When its marker was to be set first. */
  finishing_at: OptionalTime;
  updated_at: Time;
  /** When its job was last seen to wait for its turn; null: never. */
  queued_at: OptionalTime;
  /** When nothing of it was left to end at the image service. */
  released_at: OptionalTime;
}
