/** Which problems an operation can answer, as codes of the catalogue. */
import { ERRORS, type ErrorCode, kindOf } from '../../domain/errors.ts';
import { classOf } from '../server/admission/request-class.ts';
import { accessOf } from '../server/route-config.ts';
import type { DescribedRoute } from './described-routes.ts';

const TENANTS: ErrorCode[] = ['invalid_tenant', 'tenant_forbidden', 'tenant_registry_unavailable'];

/** Codes of one operation, by status in ascending order. */
export function refusalsOf(route: DescribedRoute): Map<number, ErrorCode[]> {
  const { method, schema, config } = route;
  const declared = (config.refuses ?? []).map((one) =>
    typeof one === 'string' ? { code: one, status: undefined } : one,
  );
  const statuses = new Map(declared.map(({ code, status }) => [code, status]));
  const codes = new Set<ErrorCode>(statuses.keys());
  const add = (...more: ErrorCode[]) => {
    for (const code of more) codes.add(code);
  };
  add('bad_request', 'host_not_allowed');
  if (accessOf(config).least !== 'public') {
    add('unauthenticated', 'forbidden', 'too_many_failures', 'issuer_unavailable');
  }
  const kind = classOf(config.class, method.toUpperCase());
  if (kind !== 'free') add('overloaded');
  if (schema.headers !== undefined) add(...TENANTS);
  if (schema.body !== undefined) add('body_not_json', 'unsupported_media_type');
  if (schema.optionalBody !== undefined) add('body_not_json');
  if (method !== 'get') add('cross_site', 'body_too_large', 'request_in_progress', 'idempotency_key_reused');
  // How the service is can be said without a database.
  if (method !== 'get' || kind !== 'free') add('storage_unavailable');
  const order = Object.keys(ERRORS);
  const sorted = [...codes].sort((one, other) => order.indexOf(one) - order.indexOf(other));
  const byStatus = Map.groupBy(sorted, (code) => kindOf(code, statuses.get(code)).status);
  return new Map([...byStatus].sort(([one], [other]) => one - other));
}
