/** Bodies of type `multipart/form-data` with a JSON part `metadata` and a file. */
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { isMusterError, musterError } from '../../domain/errors.ts';
import { parseJson } from './json-body.ts';
import { bodyMistake } from './schema-mistakes.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The body is a form: `metadata` (JSON) and `file`. The handler reads it with `readForm`. */
    multipart?: true;
  }
}

/** `multipart/form-data` with a boundary. */
const FORM_TYPE = /^multipart\/form-data[ \t]*;(.*[ \t;])?boundary=./i;
const METADATA = 'metadata';
const FILE = 'file';

export interface Form<T> {
  metadata: T;
  file: Buffer;
}

/** Throws `unsupported_media_type` for a body of another type. */
export function checkFormType(request: FastifyRequest): void {
  const type = request.headers['content-type'];
  if (type !== undefined && FORM_TYPE.test(type.trim())) return;
  throw musterError('unsupported_media_type', `Invalid Content-type (${type ?? ''}), expected multipart/form-data`);
}

/**
 * Returns the parts of a form. Their order, the name of the file and members beside them do not matter.
 * Throws `bad_request`, `invalid_form`, `body_not_json`.
 */
export async function readForm<Schema extends z.ZodType>(
  request: FastifyRequest,
  schema: Schema,
): Promise<Form<z.infer<Schema>>> {
  const bytes = request.body;
  if (!Buffer.isBuffer(bytes) || bytes.length === 0)
    throw musterError('bad_request', 'The body is missing: a form is needed');
  const form = await parsed(bytes, String(request.headers['content-type']));
  const metadata = await bytesOf(form, METADATA);
  if (metadata === null) throw musterError('bad_request', `The form has no part '${METADATA}'`, METADATA);
  const data = parseJson(metadata);
  const checked = schema.safeParse(data);
  if (!checked.success) throw bodyMistake(checked.error, data, schema);
  const file = await bytesOf(form, FILE);
  if (file === null) throw musterError('invalid_form', `The form has no part '${FILE}'`, FILE);
  return { metadata: checked.data, file };
}

async function parsed(bytes: Buffer, type: string): Promise<FormData> {
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData();
  } catch (error) {
    if (isMusterError(error)) throw error;
    throw musterError('invalid_form', 'The form cannot be read: its parts or their boundary are broken');
  }
}

/** Returns the bytes of the first part of a name; null without one. A part may have a type of its own or none. */
async function bytesOf(form: FormData, name: string): Promise<Buffer | null> {
  const part = form.get(name);
  if (part === null) return null;
  return typeof part === 'string' ? Buffer.from(part) : Buffer.from(await part.arrayBuffer());
}
