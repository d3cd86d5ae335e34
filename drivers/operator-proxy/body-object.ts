/** The object in a body: read, changed and written again, with every number as it was written. */
import { isJsonMap } from '../../domain/operator/custom-resource.ts';
import { parseYaml } from '../operator-home/read-home.ts';
import { refusal } from './refusal.ts';

/** TypeScript does not know this part of JSON yet. */
const { rawJSON } = JSON as unknown as { rawJSON(text: string): unknown };

const YAML = /^application\/(yaml|apply-patch\+yaml)\b/i;

/**
 * Returns the object of a body: JSON, or YAML where the media type says so.
 * Throws `Refusal` (400) for any other body.
 */
export function readBodyObject(bytes: Buffer, contentType: string): Record<string, unknown> {
  const text = decoded(bytes);
  const value = jsonOf(text) ?? (YAML.test(contentType.trim()) ? yamlOf(text) : undefined);
  if (isJsonMap(value)) return value;
  throw refusal(400, `the body is no object in ${YAML.test(contentType) ? 'YAML or JSON' : 'JSON'}`);
}

/** Returns the bytes of an object; JSON is YAML as well. Throws `Refusal` (400) for one that is nested too deeply. */
export function writeBodyObject(object: Readonly<Record<string, unknown>>): Buffer {
  try {
    return Buffer.from(JSON.stringify(object));
  } catch {
    throw refusal(400, 'the body cannot be written again: it is nested too deeply');
  }
}

function decoded(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refusal(400, 'the body is no text in UTF-8');
  }
}

/** Undefined for what is no JSON, or is nested too deeply. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text, keepNumbers as Parameters<typeof JSON.parse>[1]);
  } catch {
    return undefined;
  }
}

/** An integer of 64 bits, or `1.0`, would come out as another number. */
function keepNumbers(_key: string, value: unknown, { source }: { source?: string }): unknown {
  return typeof value === 'number' && source !== undefined && String(value) !== source ? rawJSON(source) : value;
}

function yamlOf(text: string): unknown {
  const reading = parseYaml(text);
  if ('mistake' in reading) throw refusal(400, `the body is no YAML: ${reading.mistake}`);
  if (reading.leftOut.length > 0) throw refusal(400, `the body is not one object in YAML: ${reading.leftOut[0]}`);
  return reading.value;
}
