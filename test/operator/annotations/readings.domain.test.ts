/** What Muster's own annotations of a resource say, whatever somebody writes into them. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { causeOfNote, type NotedObject, type NotedResource } from '../../../domain/operator/note-object.ts';
import {
  newMistakes,
  type OwnAnnotations,
  ownAnnotationsOf,
  sameAnnotations,
} from '../../../domain/operator/own-annotations.ts';

const digest = (text: string) => `d(${text})`;
const read = (annotations: Record<string, string>) => ownAnnotationsOf(annotations, digest);
const wrong = expect.arrayContaining([expect.any(String)]);

describe('annotations', () => {
  test('of others say nothing', () => {
    expect(read({})).toBeNull();
    expect(read({ 'other/paused': 'true', 'ansible.sdk.operatorframework.io/verbosity': '2' })).toBeNull();
  });

  test.each<[string, object]>([
    ['true', { paused: true }],
    ['1', { paused: true }],
    ['T', { paused: true }],
    ['false', {}],
    ['0', {}],
    ['2026-01-02T03:04:05Z', { paused: true, pausedUntil: '2026-01-02T03:04:05.000Z' }],
    ['2026-01-02T03:04:05.5+02:00', { paused: true, pausedUntil: '2026-01-02T01:04:05.500Z' }],
    ['yes', { mistakes: wrong }],
    ['', { mistakes: wrong }],
    ['2026-01-02', { mistakes: wrong }],
    ['2026-02-30T00:00:00Z', { mistakes: wrong }],
    ['99999-01-01T00:00:00Z', { mistakes: wrong }],
  ])('muster/paused: %j', (value, own) => expect(read({ 'muster/paused': value })).toEqual(own));

  test.each<[string, object]>([
    ['false', { ignoresDependents: true }],
    ['F', { ignoresDependents: true }],
    ['true', {}],
    ['never', { mistakes: wrong }],
  ])('muster/watch-dependents: %j', (value, own) => expect(read({ 'muster/watch-dependents': value })).toEqual(own));

  test('a mistake names the annotation, a short piece of its value, and what to write', () => {
    const [sentence = ''] = read({ 'muster/paused': `a"\n${'x'.repeat(1_000)}` })?.mistakes ?? [];
    expect(sentence).toContain('The annotation muster/paused is "a\\"\\nxxx');
    expect(sentence).toContain('write true, or a time');
    expect(sentence.length).toBeLessThan(250);
  });

  test('any text is read, and reads the same again', () => {
    const text = fc.oneof(fc.string(), fc.constantFrom('true', 'false', '2026-01-02T03:04:05Z'));
    const names = fc.constantFrom('muster/paused', 'muster/watch-dependents', 'muster/reconcile-requested-at');
    fc.assert(
      fc.property(fc.dictionary(names, text), (annotations) => {
        const own = read(annotations);
        expect(own === null).toBe(Object.keys(annotations).length === 0);
        // As the database gives it back: with its keys in another order.
        const kept = own && (Object.fromEntries(Object.entries(own).reverse()) as OwnAnnotations);
        expect(sameAnnotations(own, kept)).toBe(true);
        expect(newMistakes(kept, own)).toEqual([]);
        if (own?.pausedUntil !== undefined) expect(Number.isNaN(Date.parse(own.pausedUntil))).toBe(false);
      }),
    );
  });
});

describe('an object that is told of', () => {
  const object = (own: OwnAnnotations | null, more: Partial<NotedObject> = {}): NotedObject => ({
    ...{ namespace: 'ns', name: 'a', uid: 'u', generation: 3, mark: '', deleting: false, own },
    ...more,
  });
  const resource = (own: OwnAnnotations | null, more: Partial<NotedResource> = {}): NotedResource => ({
    ...{ generation: 3, mark: '', deleting: false, doneGeneration: 3, doneMark: '', doneHash: 'h', lastOutcome: 'ok' },
    ...{ isOpen: false, readGeneration: null, isDue: false, own },
    ...more,
  });
  const noting = { isFirst: false, entryHash: 'h', resync: 'stale' } as const;

  test.each<[string, OwnAnnotations | null, OwnAnnotations | null, string | null]>([
    ['with a request', null, { request: 'a' }, 'manual'],
    ['with the request that is known', { request: 'a' }, { request: 'a' }, null],
    ['with another one', { request: 'a' }, { request: 'b' }, 'manual'],
    ['without the request that was known', { request: 'a' }, null, null],
    ['with a pause', null, { paused: true }, null],
    ['without its pause', { paused: true }, null, null],
  ])('%s', (_, before, now, cause) => {
    expect(causeOfNote(resource(before), object(now), noting)).toBe(cause);
    expect(causeOfNote(resource(before), object(now), { ...noting, isFirst: true })).toBe(cause);
  });

  test('runs for what is more urgent where it asks as well', () => {
    const asks = { request: 'a' };
    expect(causeOfNote(null, object(asks), noting)).toBe('created');
    expect(causeOfNote(resource(null), object(asks, { generation: 4 }), noting)).toBe('changed');
    expect(causeOfNote(resource(null), object(asks, { deleting: true }), noting)).toBe('deleted');
    expect(causeOfNote(resource(null, { isOpen: true, readGeneration: 3 }), object(asks), noting)).toBe('manual');
  });
});
