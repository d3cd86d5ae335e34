import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { z } from 'zod';
import { bodyMistake } from '../../api/server/schema-mistakes.ts';
import { closestWord } from '../../domain/closest-word.ts';
import { ComponentBodySchema } from '../../domain/components/schema.ts';
import { ConfigurationBodySchema, SourceCreateSchema } from '../../domain/configurations/schema.ts';
import { problemOf } from '../../domain/errors.ts';
import { ScheduleBodySchema } from '../../domain/schedules/schedule-schema.ts';
import { SessionCreateSchema } from '../../domain/sessions/schema.ts';

/** What is answered to a body; undefined for one that is right. */
function said(schema: z.ZodType, body: unknown, start = 0): string | undefined {
  const result = schema.safeParse(body);
  return result.success ? undefined : problemOf(bodyMistake(result.error, body, schema, start)).detail;
}

const layer = { clone_url: 'https://a/b.git', playbook: 'site.yml' };

describe('a body with mistakes', () => {
  test.each<[string, z.ZodType, unknown, string]>([
    [
      'a misspelt member',
      ConfigurationBodySchema,
      { layers: [{ clone_url: 'https://a/b.git', playbok: 'x' }] },
      "layers[0]: unknown member 'playbok' (playbook?), and 'playbook' is missing - 'layers.0'",
    ],
    [
      'one mistake',
      ConfigurationBodySchema,
      { layers: [{ ...layer, comit: 'x' }] },
      "unknown member 'comit' (commit?) - 'layers.0'",
    ],
    [
      'mistakes in several places',
      ConfigurationBodySchema,
      { layers: [{ ...layer, commit: 'zz' }, { clone_url: 'https://a/b.git' }], descripton: 'x' },
      "layers[0].commit: 'zz': must be 40 hexadecimal digits; layers[1]: 'playbook' is missing; unknown member 'descripton' (description?) - 'layers.0.commit'",
    ],
    [
      'members of a member of an entry',
      ConfigurationBodySchema,
      { layers: [{ ...layer, special_parameters: { ims_dkms: true } }] },
      "unknown member 'ims_dkms' (known: ims_require_dkms) - 'layers.0.special_parameters'",
    ],
    ['nothing like it', SourceCreateSchema, { clone_url: 'https://a', quux: 1 }, "unknown member 'quux' (known: "],
    [
      'a session',
      SessionCreateSchema,
      { nam: 'a', configurationName: 'b' },
      "unknown members 'nam' (name?), 'configurationName' (configuration_name?), and 'name', 'configuration_name' are missing",
    ],
    [
      'a schedule',
      ScheduleBodySchema,
      { crn: '* * * * *', action: { sesion: {} } },
      "unknown member 'crn' (cron?), and 'cron' is missing; action: unknown member 'sesion' (session?)",
    ],
    [
      'a list',
      z.array(ComponentBodySchema),
      [{ id: 'a' }, { id: 'b', desired_confg: 'x', enabled: 'yes' }],
      "[1].enabled: 'yes': is not of type 'boolean'; [1]: unknown member 'desired_confg' (desired_config?)",
    ],
  ])('%s', (_title, schema, body, detail) => {
    expect(said(schema, body)).toContain(detail);
  });

  test('a part of a list names places in the whole list', () => {
    expect(said(z.array(ComponentBodySchema), [{ id: 'a', nope: 1, enabled: 3 }], 500)).toMatch(
      /^\[500\]\.enabled: .*; \[500\]: unknown member 'nope' .*- '500\.enabled'$/,
    );
  });

  test('very many mistakes and very long names are bounded', () => {
    const layers = Array.from({ length: 5_000 }, () => ({ [`${'x'.repeat(5_000)}`]: 1 }));
    const text = said(ConfigurationBodySchema, { layers }) ?? '';
    expect(text.length).toBeLessThan(4_000);
    expect(text).toMatch(/and \d+ more mistakes - 'layers\.0'$/);
  });

  test('a password is not repeated', () => {
    const text = said(SourceCreateSchema, { clone_url: 3, credentials: { username: 'u', password: 77_665_544 } });
    expect(text).toContain('credentials.password: The value: ');
    expect(text).not.toContain('77665544');
  });

  test('whatever it is, a detail comes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = said(ConfigurationBodySchema, { layers: [value, value], additional_inventory: value });
        expect(text === undefined || text.length > 0).toBe(true);
      }),
    );
  });
});

describe('the word that was meant', () => {
  const known = ['clone_url', 'playbook', 'commit', 'configuration_name', 'ids', 'status'];
  test.each([
    ['playbok', 'playbook'],
    ['plyabook', 'playbook'],
    ['cloneUrl', 'clone_url'],
    ['url', 'clone_url'],
    ['config', 'configuration_name'],
    ['id', 'ids'],
    ['Status', 'status'],
    ['quux', undefined],
    ['', undefined],
    ['x'.repeat(100_000), undefined],
  ])('%.20s', (word, meant) => {
    expect(closestWord(word, known)).toBe(meant);
  });
});
