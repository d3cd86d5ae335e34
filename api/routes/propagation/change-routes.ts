import { z } from 'zod';
import { discardChanges } from '../../../control/propagation/discard-changes.ts';
import { getHistoryItem, pageOfHistory } from '../../../control/propagation/history.ts';
import { getItem, pageOfItems, viewOfItem } from '../../../control/propagation/read-resources.ts';
import { stageChanges } from '../../../control/propagation/stage-changes.ts';
import {
  DiscardedSchema,
  HistoryPageSchema,
  PageQuerySchema,
  StagedPageSchema,
} from '../../../domain/propagation/request-schema.ts';
import { DiscardSchema, HistoryItemSchema, StagedItemSchema, StageSchema } from '../../../domain/propagation/schema.ts';
import { acting } from '../../acting.ts';
import { optionalBody } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { PropagationApi } from './dependencies.ts';
import { pageOfList } from './pages.ts';

const tags = ['changes'];
const params = z.object({ uid: z.string().describe('uid of the change') });

/** Staged changes in one answer; the others are on the next pages of the list. */
const FIRST_PAGE = 1_000;

/** What differs from what was committed, and what was committed. */
export async function changeRoutes(app: ApiServer, deps: PropagationApi): Promise<void> {
  app.post(
    '/changes/stage',
    {
      schema: {
        tags,
        summary: 'Work out the differences of the whole model',
        description:
          'With `names` or `tags` an action of these resources is staged first, also where nothing differs. `next` has the parameters of the next page of `GET /changes/staged`.',
        optionalBody: StageSchema.meta({ examples: { restart: { tags: 'service=web', action: 'restart' } } }),
        response: { 200: StagedPageSchema },
      },
      config: {
        access: 'operator',
        class: 'bulk',
        refuses: ['tag_syntax', 'unknown_resource', 'action_not_defined', 'validation_failed', 'item_in_plan'],
      },
    },
    async (request) => {
      const { tags, ...asked } = optionalBody(request, StageSchema);
      const expressions = typeof tags === 'string' ? [tags] : tags;
      const items = await stageChanges({ ...deps, ...acting(request) }, { ...asked, tags: expressions });
      const page = { records: items.slice(0, FIRST_PAGE).map(viewOfItem), more: items.length > FIRST_PAGE };
      return pageOfList('changes', page, { limit: FIRST_PAGE, after_id: '' }, ({ uid }) => uid);
    },
  );

  app.get(
    '/changes/staged',
    {
      schema: {
        tags,
        summary: 'List staged changes, oldest first',
        querystring: PageQuerySchema,
        response: { 200: StagedPageSchema },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const page = await pageOfItems(deps.db, query.after_id, query.limit);
      return pageOfList('changes', page, query, ({ uid }) => uid);
    },
  );

  app.get(
    '/changes/staged/:uid',
    {
      schema: {
        tags,
        summary: 'Read a staged change',
        operationId: 'get_propagation_staged_change',
        params,
        response: { 200: StagedItemSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['change_not_found'] },
    },
    ({ params }) => getItem(deps.db, params.uid),
  );

  app.post(
    '/changes/discard',
    {
      schema: {
        tags,
        summary: 'Give up staged changes, all or some, and put back what was committed',
        body: DiscardSchema.meta({
          examples: { all: { all: true }, one: { uids: ['11111111-2222-4333-8444-555555555555'] } },
        }),
        response: { 200: DiscardedSchema.describe('the discarded changes') },
      },
      config: { access: 'operator', class: 'bulk', refuses: ['change_not_found', 'item_in_plan'] },
    },
    async (request) => {
      const { body } = request;
      const items = await discardChanges({ ...deps, ...acting(request) }, 'uids' in body ? body.uids : 'all');
      return {
        changes: items.map(({ uid, resource, action }) => ({
          uid,
          log_action: `${resource}.${action}`,
          resource,
          action,
        })),
      };
    },
  );

  app.get(
    '/changes/history',
    {
      schema: {
        tags,
        summary: 'List committed changes, newest first',
        querystring: PageQuerySchema,
        response: { 200: HistoryPageSchema },
      },
      config: { access: 'reader', class: 'list' },
    },
    async ({ query }) => {
      const page = await pageOfHistory(deps.db, query.after_id, query.limit);
      return pageOfList('changes', page, query, ({ uid }) => uid);
    },
  );

  app.get(
    '/changes/history/:uid',
    {
      schema: {
        tags,
        summary: 'Read a committed change',
        operationId: 'get_propagation_committed_change',
        params,
        response: { 200: HistoryItemSchema },
      },
      config: { access: 'reader', class: 'quick', refuses: ['change_not_found'] },
    },
    ({ params }) => getHistoryItem(deps.db, params.uid),
  );
}
