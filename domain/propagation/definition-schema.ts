/** The form of `meta.yaml`, and what a definition is once it was read. */
import { z } from 'zod';
import { type CompactSchema, compactSchema, isScalar } from './compact-schema.ts';
import { type InputKind, kindOf } from './input-kind.ts';
import { isActionName, isInputName } from './resource-name.ts';
import { isSecretReference } from './secret-reference.ts';
import { storedTag } from './tags.ts';
import { isVersion } from './version-spec.ts';

export const HANDLERS = ['none', 'shell', 'ansible_playbook'] as const;
export type Handler = (typeof HANDLERS)[number];

/** Handlers of later parts, and of earlier systems: they are refused by name. */
export const LATER_HANDLERS: readonly string[] = [
  'configuration',
  'ansible_template',
  'ansible',
  'sync',
  'naive_sync',
  'puppet',
  'python',
  'ansible_local',
  'shell_local',
  'puppet_local',
];

/** Members of later parts. */
export const LATER_MEMBERS: readonly string[] = ['managers', 'test', 'outputs'];
export const LATER_INPUT_MEMBERS: readonly string[] = ['jsonschema', 'computable', 'reverse', 'is_own', 'is_emit'];

/** After which ends an action is tried again: after each failure, or only where its target was not to be reached or it was lost. */
export const RETRY_ON = ['failure', 'error'] as const;

/** What an exit status of an action may be called; `created` follows from `changed`. */
export const EXIT_OUTCOMES = ['ok', 'changed', 'failed', 'error'] as const;

const Outcomes = z.record(
  z.string().regex(/^(0|[1-9]\d{0,2})$/, 'an exit status is a number from 0 to 255'),
  z.enum(EXIT_OUTCOMES),
);
export type ExitOutcomes = z.infer<typeof Outcomes>;

const seconds = z.number().min(0).max(31_536_000);

const ActionObject = z.strictObject({
  file: z.string().min(1).optional(),
  repeatable: z.boolean().default(true),
  repeat_priority: z.int().default(0),
  timelimit: seconds.default(0),
  timeout: seconds.default(0),
  retry: z.int().min(0).max(100).default(0),
  retry_on: z.enum(RETRY_ON).default('failure'),
  backoff: seconds.default(0),
  outcomes: Outcomes.optional(),
});

const Action = z.union([
  z
    .string()
    .min(1)
    .transform((file) => ActionObject.parse({ file })),
  ActionObject,
]);

const Input = z
  .strictObject({
    schema: z
      .unknown()
      .optional()
      .transform((read) => compactSchema(read ?? 'str', 'schema')),
    value: z
      .unknown()
      .optional()
      .transform((value) => value ?? null),
    secret: z.boolean().default(false),
  })
  .refine(({ secret, schema }) => !secret || isScalar(schema), 'a secret input is a single value: str or str!')
  .refine(
    ({ secret, value }) => !secret || value === null || isSecretReference(value),
    'the value of a secret input is a reference',
  );

const tag = z.string().refine((text) => storedTag(text) !== null, 'a tag has the form name or name=value');

/** `meta.yaml`, without the members of later parts. */
export const MetaSchema = z.strictObject({
  id: z.string().max(253).optional(),
  version: z
    .union([z.string(), z.number().transform(String)])
    .default('1.0.0')
    .refine(isVersion, 'a version has the form 1.2.3'),
  handler: z.enum(HANDLERS).default('none'),
  actions: z.record(z.string().refine(isActionName, 'this is no name of an action'), Action).optional(),
  input: z.record(z.string().refine(isInputName, 'this is no name of an input'), Input).default({}),
  tags: z.array(tag).max(100).default([]),
  outcomes: Outcomes.optional(),
  limits: z.strictObject({ type_limit: z.int().min(1).max(1_000_000).optional() }).default({}),
});
export type Meta = z.infer<typeof MetaSchema>;

export interface ActionDefinition {
  /** Path inside the definition; null where nothing is executed. */
  file: string | null;
  repeatable: boolean;
  repeat_priority: number;
  timelimit: number;
  timeout: number;
  retry: number;
  /** Definitions that an earlier release has stored have neither. */
  retry_on?: (typeof RETRY_ON)[number];
  /** Seconds between an attempt that has failed and the next. */
  backoff?: number;
  outcomes: ExitOutcomes;
}

export interface InputDefinition {
  schema: CompactSchema;
  kind: InputKind;
  /** Default of a new resource. */
  value: unknown;
  secret: boolean;
}

export interface Definition {
  id: string;
  version: string;
  handler: Handler;
  actions: Record<string, ActionDefinition>;
  inputs: Record<string, InputDefinition>;
  tags: string[];
  /** Actions of this definition in flight at most, in one plan; null for no limit. */
  type_limit: number | null;
}

/** Inputs that say where a resource is and how it is reached; every definition has them. */
export const PLACE_INPUTS = ['location_id', 'transports_id'] as const;

/** Returns the inputs of a definition, those that every definition has among them. */
export function inputsOf(input: Meta['input']): Record<string, InputDefinition> {
  const place = { schema: 'str', kind: 'simple' as const, value: '', secret: false };
  const own = Object.entries(input).map(([name, { schema, value, secret }]) => [
    name,
    { schema, kind: kindOf(schema), value, secret },
  ]);
  return { ...Object.fromEntries(PLACE_INPUTS.map((name) => [name, { ...place }])), ...Object.fromEntries(own) };
}
