/** What a boot does to patches and reports: cfs-flows 8.13. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isBeforeBoot, patchAfterBoot, requireStateWithBoot, tellsBoot } from '../../domain/components/boot.ts';
import {
  type Component,
  type ComponentBody,
  ComponentBodySchema,
  type StateLayer,
} from '../../domain/components/schema.ts';
import { V2Component, V2ComponentBody, V2ComponentView } from '../../domain/components/v2-schema.ts';
import { patchComponent, putComponent } from '../../domain/components/write-component.ts';

const NOW = new Date('2026-11-21T10:00:00Z');
const EARLIER = new Date(NOW.getTime() - 60_000);
const LATER = new Date(NOW.getTime() + 60_000);
const REACHED: StateLayer = {
  clone_url: 'u',
  playbook: 'site.yml',
  commit: 'a',
  status: 'applied',
  session_name: 's',
  last_updated: '2026-11-21T09:00:00Z',
};
const stored = (changes: Partial<Component> = {}): Component => ({
  id: 'x',
  state: [REACHED],
  desired_config: 'base',
  error_count: 2,
  enabled: false,
  tags: {},
  ...changes,
});
const patchedAfter = (before: Component, body: ComponentBody, facts: { bootedAt?: Date; sessionSince?: Date } = {}) =>
  patchComponent(
    before,
    patchAfterBoot(before, body, {
      bootedAt: null,
      sessionSince: null,
      now: NOW,
      boots: tellsBoot(before, body),
      ...facts,
    }),
    NOW,
  );

describe('the report of a boot', () => {
  const report: ComponentBody = { state: [], enabled: true, muster: { boot: 'b2' } };
  test.each([
    ['the first boot', undefined],
    ['another boot', { boot: 'b1' }],
  ])('of %s clears state and count', (_, muster) => {
    const before = stored(muster ? { muster } : {});
    expect(tellsBoot(before, report)).toBe(true);
    expect(patchedAfter(before, report)).toEqual({
      ...before,
      state: [],
      error_count: 0,
      enabled: true,
      muster: { boot: 'b2' },
    });
  });
  test('again leaves what was reached since then, and its errors; the rest is as it says', () => {
    const before = stored({ muster: { boot: 'b2' } });
    expect(tellsBoot(before, report)).toBe(false);
    expect(patchedAfter(before, report)).toEqual({ ...before, enabled: true });
    expect(patchedAfter(before, { ...report, error_count: 7 })).toEqual({ ...before, enabled: true, error_count: 7 });
    expect(patchedAfter(before, { ...report, desired_config: 'next' })).toMatchObject({
      state: [REACHED],
      error_count: 0,
    });
  });
  test('without a boot clears each time, as CFS does, and leaves the boot', () => {
    const before = stored({ muster: { boot: 'b2' } });
    const plain = { state: [], enabled: true };
    expect(patchedAfter(before, plain)).toEqual({ ...before, state: [], error_count: 0, enabled: true });
  });
  test.each<[string, ComponentBody, boolean]>([
    ["by CFS's own reporter", { state: [], enabled: true }, true],
    ["by CFS's own reporter, with more", { state: [], enabled: true, error_count: 0, tags: {} }, true],
    ['by a person who clears the state', { state: [] }, false],
    ['by a person who clears the state and disables', { state: [], enabled: false }, false],
    ['by a person who enables', { enabled: true }, false],
    ['with layers', { state: [{ ...REACHED, last_updated: undefined }], enabled: true } as ComponentBody, false],
    ['of the boot that is stored', { state: [], enabled: true, muster: { boot: 'b2' } }, false],
    ['of another boot', { state: [], enabled: true, muster: { boot: 'b3' } }, true],
  ])('%s is told or not', (_, body, boots) => {
    expect(tellsBoot(stored({ muster: { boot: 'b2' } }), body)).toBe(boots);
  });
  test('with layers replaces the state, also of the same boot', () => {
    const { last_updated: _, ...layer } = { ...REACHED, commit: 'b' };
    const body = { state: [layer], muster: { boot: 'b2' } } as ComponentBody;
    for (const muster of [undefined, { boot: 'b1' }, { boot: 'b2' }]) {
      const { state, error_count } = patchedAfter(stored(muster ? { muster } : {}), body);
      expect(state.map(({ commit }) => commit)).toEqual(['b']);
      expect(error_count).toBe(2);
    }
  });
  test('without the state beside it is refused', () => {
    expect(() => requireStateWithBoot({ muster: { boot: 'b' } })).toThrow(
      expect.objectContaining({ code: 'bad_request' }),
    );
    expect(() => requireStateWithBoot({ muster: { boot: 'b' }, state: [] })).not.toThrow();
    expect(() => requireStateWithBoot({ enabled: true })).not.toThrow();
  });
});

describe('a report of a session', () => {
  test.each([
    ['from before the boot', EARLIER, NOW, true],
    ['from the moment of the boot', NOW, NOW, true],
    ['from after the boot', LATER, NOW, false],
    ['that is none of ours', null, NOW, false],
    ['of a component that never told of a boot', EARLIER, null, false],
  ])('%s', (_, since, bootedAt, expected) => expect(isBeforeBoot(since, bootedAt)).toBe(expected));

  test.each(['a', 'a_applied', 'a_failed', 'a_skipped', 'a_incomplete'])(
    'from before the boot is incomplete whatever it says (%s), and counts nothing',
    (commit) => {
      for (const error_count of [undefined, 0, 3]) {
        const body: ComponentBody = {
          state_append: { clone_url: 'u', playbook: 'net.yml', commit, session_name: 's' },
          ...(error_count === undefined ? {} : { error_count }),
        };
        const component = patchedAfter(stored(), body, { bootedAt: NOW, sessionSince: EARLIER });
        expect(component.error_count).toBe(2);
        expect(component.state.at(-1)).toMatchObject({ playbook: 'net.yml', commit: 'a', status: 'incomplete' });
      }
    },
  );
  test('from after the boot is stored as it is', () => {
    const state_append = { clone_url: 'u', playbook: 'net.yml', commit: 'a_failed', session_name: 's' };
    const component = patchedAfter(
      stored(),
      { state_append, error_count: 3 },
      { bootedAt: EARLIER, sessionSince: NOW },
    );
    expect(component).toMatchObject({ error_count: 3, state: [REACHED, { commit: 'a', status: 'failed' }] });
  });
  test('in the report of a boot itself is from before it', () => {
    const state_append = { clone_url: 'u', playbook: 'net.yml', commit: 'a', session_name: 's' };
    const body: ComponentBody = { state: [], state_append, muster: { boot: 'b' } };
    expect(patchedAfter(stored(), body, { sessionSince: EARLIER }).state).toMatchObject([{ status: 'incomplete' }]);
    expect(patchedAfter(stored(), body).state).toMatchObject([{ status: 'applied' }]);
  });
});

test('a PUT leaves the boot that it gives, or none', () => {
  expect(putComponent('x', { muster: { boot: 'b' } }, NOW).muster).toEqual({ boot: 'b' });
  expect(Object.hasOwn(putComponent('x', {}, NOW), 'muster')).toBe(false);
});

test.each([
  [{ boot: 'b' }, true],
  [{ boot: 'a'.repeat(128) }, true],
  [{ boot: '3f2c 9~!"' }, true],
  [{ boot: '' }, false],
  [{ boot: 'a'.repeat(129) }, false],
  [{ boot: 'a\nb' }, false],
  [{ boot: 'a\u0000' }, false],
  [{ boot: 'ü' }, false],
  [{ boot: 7 }, false],
  [{ boot: null }, false],
  [{}, false],
  [{ boot: 'b', more: 1 }, false],
  [null, false],
  ['b', false],
])('muster %j may be sent: %s', (muster, good) => {
  expect(ComponentBodySchema.safeParse({ muster }).success).toBe(good);
});

test('version 2 neither takes nor shows it', () => {
  expect(V2ComponentBody.input.safeParse({ muster: { boot: 'b' } }).success).toBe(false);
  const component = stored({ muster: { boot: 'b' } });
  expect(V2Component.show(component)).not.toHaveProperty('muster');
  expect(V2ComponentView.show({ ...component, configuration_status: 'pending' })).not.toHaveProperty('muster');
});

test('whatever is patched, a component without boots is what CFS makes of it', () => {
  const body = fc.record(
    {
      state: fc.constantFrom([], [{ ...REACHED, last_updated: undefined }]),
      state_append: fc.constant({ clone_url: 'u', playbook: 'p', commit: 'a_failed', session_name: 's' }),
      error_count: fc.integer({ min: -2, max: 5 }),
      desired_config: fc.constantFrom('', 'next'),
      enabled: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(body, fc.option(fc.constantFrom(EARLIER, LATER)), (patch, sessionSince) => {
      const boots = tellsBoot(stored(), patch as ComponentBody);
      fc.pre(!boots);
      const facts = { bootedAt: null, sessionSince, now: NOW, boots };
      expect(patchAfterBoot(stored(), patch as ComponentBody, facts)).toEqual(patch);
    }),
  );
});
