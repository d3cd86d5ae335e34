import { actOnSelection } from '../../../control/components/act-on-selection.ts';
import { expandHostlist, selectOnce } from '../../../control/components/select-once.ts';
import {
  ActionAnswerSchema,
  ActionBodySchema,
  HostlistAnswerSchema,
  HostlistBodySchema,
  SelectionSchema,
  SelectorSchema,
} from '../../../domain/components/selection-schema.ts';
import { acting } from '../../acting.ts';
import type { ApiServer } from '../../server/api-server.ts';
import type { ComponentApi } from './dependencies.ts';

const tags = ['components'];

/** Many components at once: which are meant, and what is done to them. */
export async function selectionRoutes(app: ApiServer, deps: ComponentApi): Promise<void> {
  app.post(
    '/hostlists',
    {
      schema: {
        tags,
        summary: 'Read a hostlist: the names that it means',
        description: 'Writes nothing. Names need not be of components. The refusal says where the mistake is.',
        body: HostlistBodySchema.meta({ examples: { ranges: { hosts: 'n[1-4],!n3' } } }),
        response: { 200: HostlistAnswerSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['bad_hostlist', 'hostlist_too_large'] },
    },
    async ({ body }) => ({ names: await expandHostlist(deps.db, body.hosts) }),
  );

  app.post(
    '/components/selections',
    {
      schema: {
        tags,
        summary: 'Choose components for an action',
        description: 'Their ids are kept for 15 minutes, so that an action changes just what was shown.',
        body: SelectorSchema.meta({
          examples: { failed: { filter: { status: 'failed' } }, two: { ids: ['x1', 'x2'] } },
        }),
        response: { 200: SelectionSchema },
      },
      config: { access: 'reader', class: 'list', refuses: ['bad_hostlist', 'hostlist_too_large', 'bad_tags'] },
    },
    ({ body }) => selectOnce(deps, body),
  );

  app.post(
    '/components/actions',
    {
      schema: {
        tags,
        summary: 'Do the same to many components',
        description: 'One transaction: all or none. Components that vanished since they were chosen are named.',
        body: ActionBodySchema.meta({
          examples: {
            enable: { action: 'enable', selection: { filter: { hosts: 'n[1-4]' } } },
            configuration: { action: 'set_desired', selection: { ids: ['x1'] }, args: { desired_config: 'site' } },
          },
        }),
        response: { 200: ActionAnswerSchema },
      },
      config: {
        access: 'operator',
        class: 'bulk',
        refuses: ['selection_gone', 'bad_hostlist', 'hostlist_too_large', 'bad_tags'],
      },
    },
    (request) => actOnSelection(deps, acting(request), request.body),
  );
}
