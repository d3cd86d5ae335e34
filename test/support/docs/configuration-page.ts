import type { z } from 'zod';
import { ACCESS_VARIABLES } from '../../../config/access-variables.ts';
import { API_VARIABLES } from '../../../config/api-variables.ts';
import { BACKEND_VARIABLES } from '../../../config/backend-variables.ts';
import { SETTINGS } from '../../../config/environment.ts';
import { IMAGE_BUILDER_VARIABLES } from '../../../config/image-builder-variables.ts';
import { IMS_VARIABLES } from '../../../config/ims-variables.ts';
import { PROCESS_VARIABLES } from '../../../config/process-variables.ts';
import { RUNNER_VARIABLES } from '../../../config/runner-variables.ts';
import { SESSION_VARIABLES } from '../../../config/session-variables.ts';
import { TRUST_VARIABLES } from '../../../config/trust-variables.ts';
import { CHART_VALUES } from './chart-values.ts';
import { table } from './table.ts';

type Group = Readonly<Record<string, z.ZodType>>;

/** Sections of the page; together they hold every setting. */
const GROUPS: Readonly<Record<string, Group>> = {
  'API and command line': API_VARIABLES,
  Access: ACCESS_VARIABLES,
  Trust: TRUST_VARIABLES,
  'Image service': IMAGE_BUILDER_VARIABLES,
  'Sessions on images': IMS_VARIABLES,
  'ARA, secrets, Postgres, Temporal': BACKEND_VARIABLES,
  'Sessions as Jobs': RUNNER_VARIABLES,
  Sessions: SESSION_VARIABLES,
  'Ports, records and processes': PROCESS_VARIABLES,
};

const HEAD = `# Configuration

<!-- Generated from config/: run \`npm run docs\`. -->

Each process reads its settings from the environment at start; [settings](operations.md#settings) says how. \`-\` in the column
Default means that the setting is absent. Sizes are bytes, or a number with \`KiB\`, \`MiB\`, \`GiB\`. Switches are \`1\` or \`true\`,
and \`0\` or \`false\`.

The column Chart names the [value of the Helm chart](kubernetes.md#values) that gives the setting. The chart alone decides a
setting with \`fixed\`. The value \`settings\` takes a setting with an empty cell by its name, and \`secretSettings\` takes it
from a Secret.
`;

const COLUMNS = ['Setting', 'Purpose', 'Unit', 'Default', 'When to change it', 'Chart'];

/** Content of `docs/configuration.md`: what the schema says of each setting. */
export function configurationPage(): string {
  const missing = SETTINGS.filter((name) => !Object.values(GROUPS).some((group) => Object.hasOwn(group, name)));
  if (missing.length > 0) throw new Error(`${missing[0]} and the settings of its group are in no section`);
  const sections = Object.entries(GROUPS).map(([title, group]) => {
    const rows = Object.entries(group).map(([name, schema]) => rowOf(name, schema));
    return `## ${title}\n\n${table(COLUMNS, rows)}\n`;
  });
  return [HEAD, ...sections].join('\n');
}

function rowOf(name: string, schema: z.ZodType): string[] {
  const { description, unit, fallback, change } = schema.meta() ?? {};
  if (description === undefined) throw new Error(`${name} has no description`);
  const chart = CHART_VALUES[name] ?? '';
  const place = chart === '' || chart === 'fixed' ? chart : `\`${chart}\``;
  return [`\`${name}\``, description, unit ?? '', fallback ?? defaultOf(schema), change ?? '', place];
}

/** The default as it would be written in the environment. */
function defaultOf(schema: z.ZodType): string {
  const { def } = schema as unknown as { def: { type: string; in: z.ZodType; defaultValue?: unknown } };
  if (def.type === 'pipe') return defaultOf(def.in);
  const value = def.type === 'default' ? def.defaultValue : undefined;
  const text = value === undefined ? '' : written(value, schema.meta()?.unit);
  return text === '' ? '-' : `\`${text}\``;
}

function written(value: unknown, unit: string | undefined): string {
  if (unit === 'bytes') return inBinaryUnit(Number(value));
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (Array.isArray(value) && value.length > 0) return value.join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

function inBinaryUnit(bytes: number): string {
  return bytes % 2 ** 30 === 0 ? `${bytes / 2 ** 30}GiB` : `${bytes / 2 ** 20}MiB`;
}
