import type { FastifyReply } from 'fastify';
import { deleteConfiguration } from '../../../control/configurations/delete-configuration.ts';
import { putConfiguration } from '../../../control/configurations/put-configuration.ts';
import { getConfigurationFor } from '../../../control/configurations/read-configuration.ts';
import { refreshConfiguration } from '../../../control/configurations/refresh-configuration.ts';
import { tagOf } from '../../../domain/configurations/version-tag.ts';
import type { StoredConfiguration } from '../../../store/configurations/configurations.ts';
import { acting } from '../../acting.ts';
import { NoContentSchema } from '../../answers.ts';
import type { ApiServer } from '../../server/api-server.ts';
import { TenantHeadersSchema as headers, tenantOf } from '../../tenant.ts';
import type { ConfigurationWire } from './configuration-wires.ts';
import type { ConfigurationApi } from './dependencies.ts';

const tags = ['configurations'];
/** What asking the remotes for branches can end with. */
const BRANCHES = ['source_unknown', 'branch_not_resolved', 'changed_meanwhile', 'secret_store_unavailable'] as const;

/** CFS's configurations in one version of the API (cfs-api 11). */
export function configurationRoutes(app: ApiServer, deps: ConfigurationApi, wire: ConfigurationWire): void {
  const { params, answers } = wire;
  const path = `${wire.path}/:configuration_id`;
  /** The record, and in version 3 the tag of its version. */
  const answer = (reply: FastifyReply, stored: StoredConfiguration) => {
    if (!wire.version2) reply.header('etag', tagOf(stored));
    return wire.record(stored.record);
  };

  app.get(
    wire.path,
    {
      schema: {
        tags,
        summary: 'List configurations',
        headers: wire.readerHeaders,
        querystring: wire.query,
        response: { 200: answers.list },
      },
      config: { access: 'reader', class: wire.readClass('list'), refuses: wire.listRefuses },
    },
    (request, reply) => wire.sendPage(reply, deps, request.query, wire.readerOf(request)),
  );

  app.get(
    path,
    {
      schema: {
        tags,
        summary: 'Read a configuration',
        headers: wire.readerHeaders,
        params,
        response: { 200: answers.record },
      },
      config: { access: 'reader', class: wire.readClass('quick'), refuses: ['configuration_not_found'] },
    },
    async (request, reply) =>
      answer(reply, await getConfigurationFor(deps, request.params.configuration_id, wire.readerOf(request))),
  );

  app.put(
    path,
    {
      schema: {
        tags,
        summary: 'Create or replace a configuration; branches become commits',
        headers,
        params: wire.newParams,
        querystring: wire.putQuery,
        body: wire.body,
        response: { 200: answers.record },
      },
      config: {
        // Who may write a configuration may run code as the user of the runner.
        access: 'operator',
        class: 'remote',
        refuses: [...BRANCHES, 'branch_and_commit', 'source_or_url', 'conflicting_layers', 'read_only'],
      },
    },
    async (request, reply) => {
      const { params, query, body } = request;
      const options = {
        dropBranches: query.drop_branches ?? false,
        tenant: tenantOf(request),
        precondition: wire.preconditionOf(request),
        version2: wire.version2,
      };
      return answer(reply, await putConfiguration(deps, acting(request), params.configuration_id, body, options));
    },
  );

  app.patch(
    path,
    {
      schema: {
        tags,
        summary: 'Set every branch to its head commit; a body is ignored',
        headers,
        params,
        response: { 200: answers.record },
      },
      config: { access: 'operator', class: 'remote', refuses: ['configuration_not_found', ...BRANCHES] },
    },
    async (request, reply) => {
      const { configuration_id } = request.params;
      const precondition = wire.preconditionOf(request);
      const tenant = tenantOf(request);
      return answer(reply, await refreshConfiguration(deps, acting(request), configuration_id, tenant, precondition));
    },
  );

  app.delete(
    path,
    {
      schema: {
        tags,
        summary: 'Delete a configuration that no component desires',
        headers,
        params,
        response: { 204: NoContentSchema },
      },
      config: { access: 'operator', class: 'remote', refuses: ['configuration_not_found', 'configuration_in_use'] },
    },
    async (request, reply) => {
      const { configuration_id } = request.params;
      await deleteConfiguration(deps, configuration_id, tenantOf(request), wire.preconditionOf(request));
      return reply.code(204).send();
    },
  );
}
