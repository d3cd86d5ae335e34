/** What differs between the versions of the API for components: names and forms, never rules (cfs-api 6). */
import { setImmediate as others } from 'node:timers/promises';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { viewComponentsById } from '../../../control/components/components-by-id.ts';
import type { ReadComponentsDependencies } from '../../../control/components/read-components.ts';
import { listComponents } from '../../../control/components/read-components.ts';
import {
  type Component,
  type ComponentBody,
  ComponentBodySchema,
  type ComponentFilterPatch,
  ComponentFilterPatchSchema,
  type ComponentListQuery,
  ComponentListQuerySchema,
  ComponentSchema,
  type ComponentView,
  ComponentViewSchema,
} from '../../../domain/components/schema.ts';
import {
  V2Component,
  V2ComponentBody,
  V2ComponentDetails,
  V2ComponentListQuery,
  V2ComponentPatchesSchema,
  V2ComponentView,
} from '../../../domain/components/v2-schema.ts';
import type { ErrorCode } from '../../../domain/errors.ts';
import { NextSchema } from '../../answers.ts';
import { mapBatches, sendArray, sendList, sendWholeList } from '../../server/list-answer.ts';
import { EXAMPLES_V2, EXAMPLES_V3 } from './component-examples.ts';

type Details = Pick<ComponentListQuery, 'state_details' | 'config_details'>;

export interface ComponentWire {
  path: string;
  details: z.ZodType<Details>;
  query: z.ZodType<ComponentListQuery>;
  body: z.ZodType<ComponentBody>;
  patches: z.ZodType<ComponentBody[] | ComponentFilterPatch>;
  /** Examples of bodies, by name. */
  examples: Record<'putList' | 'patches' | 'put' | 'patch', Record<string, unknown>>;
  /** What a list refuses. */
  listRefuses: readonly ErrorCode[];
  /** Descriptions of answers: one written, one read, a list, what a write of many answers. */
  answers: Record<'record' | 'view' | 'list' | 'written', z.ZodType>;
  record(component: Component): unknown;
  view(component: ComponentView): unknown;
  sendPage(reply: FastifyReply, deps: ReadComponentsDependencies, query: ComponentListQuery): Promise<FastifyReply>;
  /** What the answer of a write of listed components shows of one of them. */
  shown(component: Component): unknown;
  /** Answers a write of listed components with what is shown of each. */
  sendWritten(reply: FastifyReply, shown: unknown[]): Promise<FastifyReply>;
  /** Answers a write of all that matched a filter. */
  sendMatched(reply: FastifyReply, deps: ReadComponentsDependencies, ids: string[]): Promise<FastifyReply>;
}

export const COMPONENTS_V3: ComponentWire = {
  path: '/v3/components',
  details: ComponentListQuerySchema.pick({ state_details: true, config_details: true }),
  query: ComponentListQuerySchema,
  body: ComponentBodySchema,
  patches: z.union([z.array(ComponentBodySchema), ComponentFilterPatchSchema]),
  examples: EXAMPLES_V3,
  listRefuses: ['bad_tags'],
  answers: {
    record: ComponentSchema,
    view: ComponentViewSchema,
    list: z.object({ components: z.array(ComponentViewSchema), next: NextSchema }),
    written: z.object({ component_ids: z.array(z.string()) }),
  },
  record: (component) => component,
  view: (component) => component,
  async sendPage(reply, deps, query) {
    const { limit, batches, more } = await listComponents(deps, query);
    return sendList(reply, 'components', batches, (last, isCut) =>
      isCut || more() ? nextPage(query, limit, last?.id ?? '') : null,
    );
  },
  shown: ({ id }) => id,
  sendWritten: async (reply, ids) => reply.send({ component_ids: ids }),
  sendMatched: async (reply, _deps, ids) => reply.send({ component_ids: ids }),
};

export const COMPONENTS_V2: ComponentWire = {
  path: '/v2/components',
  details: V2ComponentDetails.input,
  query: V2ComponentListQuery.input,
  body: V2ComponentBody.input,
  patches: V2ComponentPatchesSchema,
  examples: EXAMPLES_V2,
  listRefuses: ['list_too_large', 'bad_tags'],
  answers: {
    record: V2Component.object,
    view: V2ComponentView.object,
    list: z.array(V2ComponentView.object),
    written: z.array(z.union([V2Component.object, V2ComponentView.object])),
  },
  record: V2Component.show,
  view: V2ComponentView.show,
  sendPage: (reply, deps, query) => sendWholeList(reply, () => listComponents(deps, query), V2ComponentView.show),
  shown: V2Component.show,
  sendWritten: (reply, records) => sendArray(reply, piecesOf(records)),
  sendMatched: (reply, deps, ids) => sendArray(reply, mapBatches(viewComponentsById(deps, ids), V2ComponentView.show)),
};

/** Records turned into text at once. */
const PIECE = 500;

/** Records that are there already, in pieces between which others get the processor. */
async function* piecesOf<T>(records: T[]): AsyncGenerator<T[], void> {
  for (let start = 0; start < records.length; start += PIECE) {
    if (start > 0) await others();
    yield records.slice(start, start + PIECE);
  }
}

/** Every parameter of the list with the value used (cfs-api 3). */
function nextPage(query: ComponentListQuery, limit: number, last: string): Record<string, unknown> {
  return {
    ids: query.ids ?? '',
    status: query.status ?? '',
    enabled: query.enabled ?? null,
    config_name: query.config_name ?? '',
    state_details: query.state_details ?? false,
    config_details: query.config_details ?? false,
    tags: query.tags ?? '',
    limit,
    after_id: last,
  };
}
