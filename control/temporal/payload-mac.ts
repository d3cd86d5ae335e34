/** The MAC of what goes through Temporal: made and checked where payloads leave and enter a process, so that no workflow sees the key. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Payload, PayloadCodec, SerializationContext } from '@temporalio/common';
import {
  CHECKED_FIELD,
  type Checked,
  MAC_FIELD,
  REQUIRED_SINCE_FIELD,
  withoutScheduledTime,
} from '../../domain/engine/seal.ts';
import { musterError } from '../../domain/errors.ts';

export interface MacPolicy {
  /** From when on what has no MAC is refused; null: it counts still. */
  requiredSince(): Date | null;
  log: { warn(fields: object, message: string): void };
}

const VERSION = 'muster-mac-1';

/**
 * What a list of payloads is for: nothing that was signed for one workflow, activity or schedule is taken for another. The workflows that a
 * schedule starts are one: they have the schedule's arguments, and each has the result of the one before.
 */
function purposeOf(context: SerializationContext | undefined): string {
  if (context === undefined) return JSON.stringify([VERSION, 'none']);
  const { type, namespace, workflowId = '' } = context;
  if (type === 'workflow') return JSON.stringify([VERSION, type, namespace, withoutScheduledTime(workflowId)]);
  return JSON.stringify([VERSION, type, namespace, workflowId, context.activityId ?? '']);
}

/** Each part with its length, so that no two lists have the same bytes. */
function macOf(key: Buffer, purpose: string, payloads: readonly Payload[]): Buffer {
  const parts: (Uint8Array | string)[] = [];
  let head = `${Buffer.byteLength(purpose)}:${purpose}${payloads.length};`;
  const add = (name: string, bytes: Uint8Array) => {
    parts.push(`${head}${Buffer.byteLength(name)}:${name}${bytes.length}:`, bytes);
    head = '';
  };
  for (const { metadata, data } of payloads) {
    const names = Object.keys(metadata ?? {}).filter((name) => !OURS.has(name));
    head += `${names.length};`;
    for (const name of names.sort()) add(name, bytesOf(metadata?.[name]));
    add('', bytesOf(data));
  }
  // At once: each call into the library costs more than the bytes do.
  const all = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  return createHmac('sha256', key).update(head).update(all).digest();
}

/** Empty bytes come from the engine as an empty list. */
const bytesOf = (value: Uint8Array | null | undefined): Uint8Array =>
  value instanceof Uint8Array ? value : Buffer.from(value ?? []);
const OURS: ReadonlySet<string> = new Set([MAC_FIELD, CHECKED_FIELD, REQUIRED_SINCE_FIELD]);

function bare(payload: Payload): Payload {
  const metadata = Object.entries(payload.metadata ?? {}).filter(([name]) => !OURS.has(name));
  return { ...payload, metadata: Object.fromEntries(metadata) };
}

/** Signs payloads; they stay as readable as they are. */
function sign(key: Buffer, payloads: Payload[], context: SerializationContext | undefined): Payload[] {
  if (payloads.length === 0) return payloads;
  const plain = payloads.map(bare);
  const mac = Buffer.from(macOf(key, purposeOf(context), plain).toString('base64url'));
  return plain.map((payload) => ({ ...payload, metadata: { ...payload.metadata, [MAC_FIELD]: mac } }));
}

/** What the MAC of a list of payloads says. */
export function checkPayloads(
  key: Buffer,
  payloads: readonly Payload[],
  context: SerializationContext | undefined,
): Checked {
  const macs = payloads.map(({ metadata }) => metadata?.[MAC_FIELD]);
  if (macs.every((mac) => mac === undefined || mac === null)) return 'unsigned';
  const [first] = macs;
  if (!first || macs.some((mac) => !mac || Buffer.compare(Buffer.from(mac), Buffer.from(first)) !== 0)) return 'wrong';
  const said = Buffer.from(Buffer.from(first).toString('utf8'), 'base64url');
  const mac = macOf(key, purposeOf(context), payloads);
  const valid = mac.length === said.length && timingSafeEqual(mac, said);
  return valid ? 'ours' : 'wrong';
}

/** For workers: says of each payload what its MAC says. Refusing is for those who know what it is for. */
export function workerCodec(key: () => Buffer, { requiredSince, log }: MacPolicy): PayloadCodec {
  return {
    encode: async (payloads, context) => sign(key(), payloads, context),
    decode: async (payloads, context) => {
      const checked = checkPayloads(key(), payloads, context);
      if (checked !== 'ours' && payloads.length > 0) tell(log, checked, context);
      const since = requiredSince()?.toISOString() ?? '';
      const marks = { [CHECKED_FIELD]: Buffer.from(checked), [REQUIRED_SINCE_FIELD]: Buffer.from(since) };
      return payloads.map(bare).map((payload) => ({ ...payload, metadata: { ...payload.metadata, ...marks } }));
    },
  };
}

/** For clients: what is not ours is refused with `payload_refused`. */
export function clientCodec(key: () => Buffer, { requiredSince, log }: MacPolicy): PayloadCodec {
  return {
    encode: async (payloads, context) => sign(key(), payloads, context),
    decode: async (payloads, context) => {
      const checked = checkPayloads(key(), payloads, context);
      if (checked !== 'ours' && payloads.length > 0) {
        tell(log, checked, context);
        if (checked === 'wrong' || requiredSince() !== null) {
          throw musterError('payload_refused', 'An answer of the engine has no valid MAC of this installation');
        }
      }
      return payloads.map(bare);
    },
  };
}

/** Of each workflow it is told once: one of before is read again and again. */
const told = new Set<string>();
const TOLD_MAX = 1_000;

function tell(log: MacPolicy['log'], checked: Checked, context: SerializationContext | undefined): void {
  const what = checked === 'wrong' ? 'a MAC that is not valid for it' : 'no MAC';
  const { workflowId, ...rest } = context ?? {};
  const activityId = 'activityId' in rest ? rest.activityId : undefined;
  const about = `${checked} ${workflowId}`;
  if (told.has(about)) return;
  if (told.size >= TOLD_MAX) told.clear();
  told.add(about);
  log.warn({ workflow: workflowId, activity: activityId }, `what came through Temporal has ${what}`);
}
