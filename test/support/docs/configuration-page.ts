import type { z } from 'zod';
import { GROUPS } from '../../../config/environment.ts';
import { CHART_VALUES } from './chart-values.ts';
import { table } from './table.ts';

/** Titles of the sections. */
const TITLES: Readonly<Record<string, string>> = {
  stack: 'Folders and the embedded stack',
  api: "The API's server",
  cli: 'Command line',
  worker: 'Worker',
  service: 'Postgres, Temporal, all processes',
  runs: 'Runs and the ingest port',
  secrets: 'Secrets and ConfigMaps',
  configurations: 'Configurations and tenants',
  components: 'Components and inventories',
  images: 'Image service',
  sessions: 'Sessions, ARA, sessions on images',
  sessionJobs: 'Sessions as Jobs',
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
  const sections = Object.entries(GROUPS).map(([group, { settings }]) => {
    const rows = Object.entries<z.ZodType>(settings).map(([name, schema]) => rowOf(name, schema));
    const title = TITLES[group] ?? `${group.charAt(0).toUpperCase()}${group.slice(1)}`;
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
