import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { SECRET_SETTINGS, SETTINGS } from '../../config/environment.ts';
import { CHART } from '../support/kubernetes/helm.ts';

const read = (name: string) => readFileSync(join(CHART, name), 'utf8');
const { properties } = JSON.parse(read('values.schema.json'));
const ownNames = new Set(read('templates/_environment.tpl').match(/MUSTER_[A-Z_]+/g));
const free = SETTINGS.filter((name) => !ownNames.has(name)).sort();

test('the chart sets nothing that is no setting of Muster', () => {
  expect([...ownNames].filter((name) => !SETTINGS.includes(name))).toEqual([]);
});

test('"settings" takes every setting that no other value says and that is no secret', () => {
  expect(properties.settings.propertyNames.enum).toEqual(free.filter((name) => !SECRET_SETTINGS.has(name)));
});

test('"secretSettings" takes the secret ones too', () => {
  expect(properties.secretSettings.propertyNames.enum).toEqual(free);
});
