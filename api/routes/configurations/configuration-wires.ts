/** What differs between the versions of the API for configurations: names, forms and who sees what (cfs-api 11). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { listConfigurations } from '../../../control/configurations/read-configuration.ts';
import {
  type Configuration,
  type ConfigurationBody,
  ConfigurationBodySchema,
  ConfigurationNameSchema,
  ConfigurationSchema,
  type InUseListQuery,
  InUseListQuerySchema,
} from '../../../domain/configurations/schema.ts';
import type { Tenant } from '../../../domain/configurations/tenancy.ts';
import {
  V2Configuration,
  V2ConfigurationBody,
  V2ConfigurationListQuery,
  V2ConfigurationNameSchema,
} from '../../../domain/configurations/v2-schema.ts';
import { type Precondition, readPrecondition } from '../../../domain/configurations/version-tag.ts';
import type { ErrorCode } from '../../../domain/errors.ts';
import { NextSchema, nextByName } from '../../answers.ts';
import type { RouteClass } from '../../server/admission/request-class.ts';
import { listTooLarge, pageAnswer } from '../../server/list-answer.ts';
import { TenantHeadersSchema, tenantOf } from '../../tenant.ts';
import type { ConfigurationApi } from './dependencies.ts';

type IdParams = z.ZodType<{ configuration_id: string }>;

export interface ConfigurationWire {
  path: string;
  version2: boolean;
  /** The id in a path, and that of a record that may be made. */
  params: IdParams;
  newParams: IdParams;
  query: z.ZodType<InUseListQuery>;
  putQuery: z.ZodType<{ drop_branches?: boolean | undefined }>;
  body: z.ZodType<ConfigurationBody>;
  answers: { record: z.ZodType; list: z.ZodType };
  record(configuration: Configuration): unknown;
  /** What a write demands of the stored version. Throws `bad_request`. */
  preconditionOf(request: FastifyRequest): Precondition;
  /** The tenant whose configurations a reader sees: v2 shows all to everybody. */
  readerOf(request: FastifyRequest): Tenant;
  readerHeaders: z.ZodObject;
  /** Class of a read that costs `usual` where the tenant registry is not asked. */
  readClass(usual: 'list' | 'quick'): RouteClass;
  /** What a list refuses. */
  listRefuses: readonly ErrorCode[];
  sendPage(reply: FastifyReply, deps: ConfigurationApi, query: InUseListQuery, tenant: Tenant): Promise<FastifyReply>;
}

/** Layers of examples. */
const URL_OF_EXAMPLES = 'https://git.example.com/site.git';
const LAYER = { name: 'base', clone_url: URL_OF_EXAMPLES, playbook: 'site.yml', branch: 'main' };
const V2_LAYER = { name: 'base', cloneUrl: URL_OF_EXAMPLES, playbook: 'site.yml', branch: 'main' };

const limited = z.object({ configuration_id: ConfigurationNameSchema.describe('Name of the configuration.') });

export const CONFIGURATIONS_V3: ConfigurationWire = {
  path: '/v3/configurations',
  version2: false,
  params: limited,
  newParams: limited,
  query: InUseListQuerySchema,
  putQuery: z.object({
    drop_branches: z.boolean().optional().describe('Whether branches are forgotten when their commits are found.'),
  }),
  body: ConfigurationBodySchema.meta({ examples: { branch: { description: 'The whole site', layers: [LAYER] } } }),
  answers: {
    record: ConfigurationSchema,
    list: z.object({ configurations: z.array(ConfigurationSchema), next: NextSchema }),
  },
  record: (configuration) => configuration,
  preconditionOf: ({ headers }) =>
    readPrecondition({ ifMatch: headers['if-match'], ifNoneMatch: headers['if-none-match'] }),
  readerOf: tenantOf,
  readerHeaders: TenantHeadersSchema,
  readClass:
    (usual) =>
    ({ isOfTenant }) =>
      isOfTenant ? 'remote' : usual,
  listRefuses: [],
  async sendPage(reply, deps, query, tenant) {
    const page = await listConfigurations(deps, query, tenant);
    return reply.send(
      pageAnswer('configurations', page.records, page.more, ({ name }) => nextByName(query, page.limit, name)),
    );
  },
};

export const CONFIGURATIONS_V2: ConfigurationWire = {
  path: '/v2/configurations',
  version2: true,
  params: z.object({ configuration_id: z.string().describe('Name of the configuration.') }),
  newParams: z.object({ configuration_id: V2ConfigurationNameSchema.describe('Name of the configuration.') }),
  query: V2ConfigurationListQuery.input,
  putQuery: z.object({}),
  body: V2ConfigurationBody.input.meta({
    examples: { branch: { description: 'The whole site', layers: [V2_LAYER] } },
  }),
  answers: { record: V2Configuration.object, list: z.array(V2Configuration.object) },
  record: V2Configuration.show,
  preconditionOf: () => null,
  readerOf: () => null,
  readerHeaders: z.object({}),
  readClass: (usual) => usual,
  listRefuses: ['list_too_large'],
  async sendPage(reply, deps, query, tenant) {
    const page = await listConfigurations(deps, query, tenant);
    if (page.more) throw listTooLarge(page.limit);
    return reply.send(page.records.map(V2Configuration.show));
  },
};
