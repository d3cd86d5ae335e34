/** Answers of an image service in our words; members that are not needed may be missing or of any shape (cfs-flows 7). */
import type { Image, ImageJob, ImageKey, ImageShell } from '../../domain/images/image-service.ts';

type Json = Record<string, unknown>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

/** A record with an id; anything else is no answer. */
function record(value: unknown, what: string): Json & { id: string } {
  if (isObject(value) && typeof value.id === 'string' && value.id !== '') return { ...value, id: value.id };
  throw new Error(`an answer that is no ${what}`);
}

function list(value: unknown, what: string): unknown[] {
  if (Array.isArray(value)) return value;
  throw new Error(`an answer that is no list of ${what}`);
}

export function readImage(value: unknown): Image {
  const { id, name } = record(value, 'image');
  return { id, name: textOf(name) };
}

export function readKey(value: unknown): ImageKey {
  const { id, name, public_key } = record(value, 'public key');
  return { id, name: textOf(name), publicKey: textOf(public_key) };
}

export function readKeys(value: unknown): ImageKey[] {
  return list(value, 'public keys').map(readKey);
}

export function readJob(value: unknown): ImageJob {
  const job = record(value, 'job');
  const shells = Array.isArray(job.ssh_containers) ? job.ssh_containers.filter(isObject) : [];
  return {
    id: job.id,
    status: textOf(job.status),
    imageId: textOf(job.artifact_id),
    resultName: textOf(job.image_root_archive_name),
    publicKeyId: textOf(job.public_key_id) || null,
    resultId: textOf(job.resultant_image_id) || null,
    shells: shells.map(readShell),
    message: beginningOf(textOf(job.message) || textOf(job.error_message)),
  };
}

export function readJobs(value: unknown): ImageJob[] {
  return list(value, 'jobs').map(readJob);
}

function readShell(shell: Json): ImageShell {
  const info = isObject(shell.connection_info) ? shell.connection_info['cluster.local'] : undefined;
  const host = isObject(info) ? textOf(info.host) : '';
  const port = isObject(info) ? Number(info.port) : Number.NaN;
  const reachable = host !== '' && Number.isInteger(port) && port > 0 && port < 65_536;
  return { name: textOf(shell.name), connection: reachable ? { host, port } : null };
}

/** What a problem document says; else the beginning of the text. */
export function reasonOf(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return beginningOf(textOf(value.detail) || textOf(value.title)) || text.slice(0, REASON_MAX);
  } catch {
    // Not JSON: a gateway's page, say.
  }
  return text.replaceAll(/\s+/g, ' ').slice(0, REASON_MAX);
}

const REASON_MAX = 300;
/** A service may say a whole log; so many characters of it are kept, since they go into records and histories. */
const MESSAGE_MAX = 1_000;

function beginningOf(message: string): string {
  return message.length <= MESSAGE_MAX ? message : `${message.slice(0, MESSAGE_MAX)}...`;
}
