import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Tenant } from '../domain/configurations/tenancy.ts';

const HEADER = 'cray-tenant-name';

/** Header of the routes that know tenants (cfs-api 11). */
export const TenantHeadersSchema = z.object({
  [HEADER]: z
    .string()
    .max(127)
    .optional()
    .meta({ description: 'Tenant that the request is made for; empty or absent: the administrator' }),
});

/** The tenant that a request is made for; null is the administrator. */
export function tenantOf(request: Pick<FastifyRequest, 'headers'>): Tenant {
  const name = request.headers[HEADER];
  return typeof name === 'string' && name !== '' ? name : null;
}
