import { expect, test } from '@jest/globals';
import { batchSessionName } from '../../control/batches/batch-session-name.ts';
import { jobNameOf } from '../../control/sessions/cluster/job-name.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { isUuid, isWrittenUuid, uuidOf } from '../../domain/text/uuid.ts';

const ID = '0b6a7f0e-3c55-4f7e-9d5b-2f1f6f1f2a3b';

test.each([
  [new Error('no room'), 'no room'],
  [new TypeError(''), ''],
  ['only words', 'only words'],
  [undefined, 'undefined'],
  [{ message: 'of no Error' }, '[object Object]'],
])('%p says %p', (error, said) => {
  expect(messageOf(error)).toBe(said);
});

test.each([
  [ID, true, true],
  [ID.toUpperCase(), true, false],
  [`${ID}\n`, false, false],
  [` ${ID}`, false, false],
  [ID.replaceAll('-', ''), false, false],
  ['', false, false],
])('%p as an id: %p, as records write it: %p', (text, any, written) => {
  expect([isUuid(text), isWrittenUuid(text)]).toEqual([any, written]);
});

test.each([
  ['0'.repeat(32), '00000000-0000-4000-8000-000000000000'],
  ['f'.repeat(64), 'ffffffff-ffff-4fff-bfff-ffffffffffff'],
  ['0123456789abcdef0123456789abcdef', '01234567-89ab-4def-8123-456789abcdef'],
])('%s is the UUID %s', (hex, uuid) => {
  expect(uuidOf(hex)).toBe(uuid);
  expect(isWrittenUuid(uuid)).toBe(true);
});

test('names that are made of digests are those of earlier releases', () => {
  expect([batchSessionName(ID, 3), batchSessionName('x', 0)]).toEqual([
    'batcher-f43869ed-f8cb-408b-9891-74902cddb5b0',
    'batcher-04e622c7-95ad-48e5-b987-91faa34fa5e0',
  ]);
  expect([jobNameOf(ID, new Date(1_764_000_000_000)), jobNameOf(ID, null)]).toEqual([
    'cfs-e781eb4b-c3e2-4d03-8e6a-f9a897d63a02',
    'cfs-15cd42ab-ad61-4e69-b451-cf73ba7a414a',
  ]);
});
