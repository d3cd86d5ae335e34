import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { ApplicationFailure, CancelledFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import fc from 'fast-check';
import { checkPayloads, clientCodec, workerCodec } from '../../control/temporal/payload-mac.ts';
import {
  CHECKED_FIELD,
  MAC_FIELD,
  REQUIRED_SINCE_FIELD,
  sealFor,
  unseal,
  unsignedCounts,
} from '../../domain/engine/seal.ts';
import { SealingFailureConverter } from '../../workflows/engine/sealed-failures.ts';

const KEY = randomBytes(32);
const WORKFLOW = { type: 'workflow', namespace: 'default', workflowId: 'session/a/1' } as const;
const ACTIVITY = {
  type: 'activity',
  namespace: 'default',
  workflowId: 'session/a/1',
  activityId: '5',
  isLocal: false,
} as const;
const policy = (requiredSince: Date | null = null) => ({
  requiredSince: () => requiredSince,
  log: { warn: () => undefined },
});
const codec = workerCodec(() => KEY, policy());
const payloads = (...values: unknown[]) => values.map((value) => defaultPayloadConverter.toPayload(value) as Payload);
const text = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).toString();

describe('a signed list of payloads', () => {
  test('is known as ours, with its data and their encoding as they were', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.jsonValue(), { minLength: 1, maxLength: 5 }), async (values) => {
        const signed = await codec.encode(payloads(...values), WORKFLOW);
        expect(signed.map(({ data }) => text(data))).toEqual(payloads(...values).map(({ data }) => text(data)));
        expect(checkPayloads(KEY, signed, WORKFLOW)).toBe('ours');
        const read = await codec.decode(signed, WORKFLOW);
        expect(read.map((payload) => defaultPayloadConverter.fromPayload(payload))).toEqual(
          payloads(...values).map((payload) => defaultPayloadConverter.fromPayload(payload)),
        );
      }),
    );
  });

  const changes: [string, (signed: Payload[]) => Payload[]][] = [
    ['with other data', ([first, ...rest]) => [{ ...first, data: Buffer.from('{}') }, ...rest]],
    [
      'with another encoding',
      ([first, ...rest]) => [
        { ...first, metadata: { ...first?.metadata, encoding: Buffer.from('binary/null') } },
        ...rest,
      ],
    ],
    [
      'with more metadata',
      ([first, ...rest]) => [{ ...first, metadata: { ...first?.metadata, more: Buffer.from('1') } }, ...rest],
    ],
    ['in another order', (signed) => [...signed].reverse()],
    ['without its last', (signed) => signed.slice(0, -1)],
    ['with one twice', ([first, ...rest]) => [first as Payload, first as Payload, ...rest]],
    ['with one that is not signed', (signed) => [...signed, ...payloads('more')]],
    [
      'with an empty MAC',
      (signed) =>
        signed.map((payload) => ({ ...payload, metadata: { ...payload.metadata, [MAC_FIELD]: Buffer.alloc(0) } })),
    ],
    [
      'with a MAC of another length',
      (signed) =>
        signed.map((payload) => ({ ...payload, metadata: { ...payload.metadata, [MAC_FIELD]: Buffer.from('YQ') } })),
    ],
  ];
  test.each(changes)('is wrong %s', async (_what, change) => {
    const signed = await codec.encode(payloads({ a: 1 }, 'b', 3), WORKFLOW);
    expect(checkPayloads(KEY, change(signed), WORKFLOW)).toBe('wrong');
  });

  test.each([
    ['another workflow', { ...WORKFLOW, workflowId: 'session/a/2' }],
    ['another namespace', { ...WORKFLOW, namespace: 'other' }],
    ['an activity', ACTIVITY],
    ['nothing', undefined],
  ])('is wrong for %s', async (_what, context) => {
    expect(checkPayloads(KEY, await codec.encode(payloads(1), WORKFLOW), context)).toBe('wrong');
  });

  test.each([
    ['another activity', { ...ACTIVITY, activityId: '6' }],
    ['an activity of another workflow', { ...ACTIVITY, workflowId: 'session/a/2' }],
    ['the workflow', WORKFLOW],
  ])('of an activity is wrong for %s', async (_what, context) => {
    expect(checkPayloads(KEY, await codec.encode(payloads(1), ACTIVITY), context)).toBe('wrong');
  });

  test('is wrong for another key, and unsigned without MAC, whatever it says of itself', async () => {
    const signed = await codec.encode(payloads(1), WORKFLOW);
    expect(checkPayloads(randomBytes(32), signed, WORKFLOW)).toBe('wrong');
    const claims = payloads(1).map((payload) => ({
      ...payload,
      metadata: { ...payload.metadata, [CHECKED_FIELD]: Buffer.from('ours'), [REQUIRED_SINCE_FIELD]: Buffer.from('') },
    }));
    const since = new Date('2026-01-01T00:00:00Z');
    const [read] = await workerCodec(() => KEY, policy(since)).decode(claims, WORKFLOW);
    expect(text(read?.metadata?.[CHECKED_FIELD])).toBe('unsigned');
    expect(text(read?.metadata?.[REQUIRED_SINCE_FIELD])).toBe(since.toISOString());
  });

  test('of a schedule is that of each workflow that it starts, and of no other', async () => {
    const at = (workflowId: string) => ({ ...WORKFLOW, workflowId });
    const signed = await codec.encode(payloads(sealFor('schedule', 'schedule/a')), at('schedule/a'));
    expect(checkPayloads(KEY, signed, at('schedule/a-2026-11-26T12:29:00Z'))).toBe('ours');
    expect(checkPayloads(KEY, signed, at('schedule/b-2026-11-26T12:29:00Z'))).toBe('wrong');
  });
});

test('an empty result is the same however the engine writes its bytes', async () => {
  const empty = defaultPayloadConverter.toPayload(undefined) as Payload;
  const [signed] = await codec.encode([empty], ACTIVITY);
  for (const data of [new Uint8Array(), [] as never, null, undefined])
    expect(checkPayloads(KEY, [{ ...signed, data }], ACTIVITY)).toBe('ours');
});

test('a client refuses what is wrong always, and what is unsigned once MACs are required', async () => {
  const wrong = await workerCodec(() => randomBytes(32), policy()).encode(payloads(1), WORKFLOW);
  for (const since of [null, new Date()]) {
    const client = clientCodec(() => KEY, policy(since));
    await expect(client.decode(wrong, WORKFLOW)).rejects.toMatchObject({ code: 'payload_refused' });
    const unsigned = client.decode(payloads(1), WORKFLOW);
    if (since === null) expect(await unsigned).toEqual(payloads(1));
    else await expect(unsigned).rejects.toMatchObject({ code: 'payload_refused' });
    expect(await client.decode([], WORKFLOW)).toEqual([]);
  }
});

describe('a failure', () => {
  const sealed = new SealingFailureConverter(() => 'ours');
  const failure = () =>
    sealed.errorToFailure(ApplicationFailure.nonRetryable('it broke', 'clone_failed'), defaultPayloadConverter);
  const read = (given: ReturnType<typeof failure>, standing: 'ours' | 'unsigned' | 'refused' = 'ours') =>
    new SealingFailureConverter(() => standing).failureToError(given, defaultPayloadConverter);

  test('is read as it was, and is as readable as before', () => {
    expect(failure()).toMatchObject({ message: 'it broke', applicationFailureInfo: { type: 'clone_failed' } });
    expect(read(failure())).toMatchObject({ message: 'it broke', type: 'clone_failed', nonRetryable: true });
  });

  test.each([
    ['another message', (one: ReturnType<typeof failure>) => ({ ...one, message: 'all is well' })],
    [
      'another type',
      (one: ReturnType<typeof failure>) => ({ ...one, applicationFailureInfo: { type: 'other', nonRetryable: true } }),
    ],
    [
      'another way to go on',
      (one: ReturnType<typeof failure>) => ({ ...one, applicationFailureInfo: { type: 'clone_failed' } }),
    ],
  ])('with %s is refused', (_what, change) => {
    expect(read(change(failure()))).toMatchObject({ type: 'payload_refused', nonRetryable: true });
  });

  test('without a valid seal is refused, also as the cause of another, and counts where unsigned ones do', () => {
    expect(read(failure(), 'refused')).toMatchObject({ type: 'payload_refused' });
    const { encodedAttributes: _seal, ...bare } = failure();
    expect(read(bare, 'unsigned')).toMatchObject({ type: 'clone_failed' });
    const around = { message: 'failed', activityFailureInfo: { activityType: { name: 'a' } }, cause: failure() };
    expect(read(around, 'refused').cause).toMatchObject({ type: 'payload_refused' });
  });

  test('of the engine needs no seal', () => {
    const cancelled = sealed.errorToFailure(new CancelledFailure('cancelled'), defaultPayloadConverter);
    expect(read(cancelled, 'refused')).toBeInstanceOf(CancelledFailure);
  });
});

test('a seal is the last argument, and nothing else is taken for one', () => {
  expect(unseal([1, sealFor('signal', 's')])).toEqual({ args: [1], sealedFor: 'signal s' });
  for (const last of [{ sealed_for: 1 }, { sealed_for: 'a', more: 1 }, 'a', null, undefined, []])
    expect(unseal([1, last])).toEqual({ args: [1, last], sealedFor: null });
  expect(unseal([])).toEqual({ args: [], sealedFor: null });
});

test('what is unsigned counts until MACs are required, and then in what began before', () => {
  const since = new Date(1_000);
  expect(unsignedCounts(new Date(2_000), null)).toBe(true);
  expect(unsignedCounts(new Date(999), since)).toBe(true);
  expect(unsignedCounts(new Date(1_000), since)).toBe(false);
});
