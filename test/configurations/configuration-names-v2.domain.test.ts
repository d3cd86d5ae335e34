import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_OPTIONS } from '../../domain/configurations/default-options.ts';
import type { Configuration, ConfigurationBody, Options } from '../../domain/configurations/schema.ts';
import {
  V2Configuration,
  V2ConfigurationBody,
  V2ConfigurationListQuery,
  V2Options,
  V2OptionsPatch,
} from '../../domain/configurations/v2-schema.ts';

const word = fc.stringMatching(/^[^\s;]{1,9}$/);
const commit = fc.stringMatching(/^[a-f0-9]{40}$/);
/** Drops members that are undefined, as JSON does. */
const json = <T>(value: T): T => JSON.parse(JSON.stringify(value));
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const repository = { name: optional(fc.string()), clone_url: word, commit: optional(commit), branch: optional(word) };
const body = fc
  .record({
    description: optional(fc.string()),
    layers: fc.array(
      fc.record({
        ...repository,
        playbook: optional(word),
        special_parameters: optional(fc.record({ ims_require_dkms: optional(fc.boolean()) })),
      }),
      { maxLength: 4 },
    ),
    additional_inventory: optional(fc.record(repository)),
  })
  .map(json);

describe('configurations', () => {
  test('what v2 shows it takes back: the same layers', () => {
    fc.assert(
      fc.property(body, (wanted) => {
        const record = { ...wanted, name: 'c', last_updated: 't' } as Configuration;
        const { name, lastUpdated, ...shown } = V2Configuration.show(record);
        expect([name, lastUpdated]).toEqual(['c', 't']);
        expect(V2ConfigurationBody.input.parse(shown)).toEqual(wanted);
      }),
    );
  });

  test('no v2 answer has a member that v2 does not know', () => {
    const layer = { name: 'n', source: 's', playbook: 'p', commit: 'c', branch: 'b', muster: 1 };
    const record = {
      name: 'c',
      last_updated: 't',
      tenant_name: 'x',
      muster: {},
      layers: [{ ...layer, special_parameters: { ims_require_dkms: false, other: 1 } }],
      additional_inventory: { ...layer, clone_url: 'u' },
    } as unknown as Configuration;
    expect(V2Configuration.show(record)).toEqual({
      name: 'c',
      lastUpdated: 't',
      layers: [{ name: 'n', playbook: 'p', commit: 'c', branch: 'b', specialParameters: { imsRequireDkms: false } }],
      additional_inventory: { name: 'n', cloneUrl: 'u', commit: 'c', branch: 'b' },
    });
  });

  test('constraints of v2: a URL, no limit of names, no playbook needed', () => {
    const parse = (layer: object): ConfigurationBody | undefined =>
      V2ConfigurationBody.input.safeParse({ layers: [layer] }).data;
    expect(parse({ cloneUrl: 'u', name: 'x'.repeat(500) })?.layers).toEqual([
      { clone_url: 'u', name: 'x'.repeat(500) },
    ]);
    expect(parse({ cloneUrl: '' })).toBeUndefined();
    expect(parse({ playbook: 'p' })).toBeUndefined();
    expect(V2ConfigurationListQuery.input.parse({ in_use: true, limit: 5 })).toEqual({ in_use: true });
  });
});

describe('options', () => {
  test('every option that v2 shows can be set by the same name', () => {
    const shown = V2Options.show(DEFAULT_OPTIONS);
    const back = V2OptionsPatch.input.parse(shown);
    expect(DEFAULT_OPTIONS).toMatchObject(back);
    expect(V2Options.show({ ...DEFAULT_OPTIONS, ...back } as Options)).toEqual(shown);
    expect(Object.keys(back)).toHaveLength(13);
    expect(Object.keys(shown)).toEqual(expect.arrayContaining(['sessionTTL', 'defaultPlaybook', 'batchSize']));
  });
});
