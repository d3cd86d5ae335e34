import { camelCase } from '../v2-names.ts';

/** Members of `status.session` that v2 knows, in v3's names (cfs-api 8). */
export const V2_STATUS_MEMBERS = ['job', 'start_time', 'completion_time', 'status', 'succeeded'] as const;

/**
 * A v2 session patch as v3 says it: `status.session.completionTime` is `completion_time`. Names that v2 does not have,
 * v3's own among them, are left out, since unknown members are ignored (cfs-api 10). What is no such object stays, to be
 * refused by the rules of the patch.
 */
export function fromV2StatusPatch(body: unknown): unknown {
  if (!isObject(body) || !isObject(body.status) || !isObject(body.status.session)) return body;
  const { session } = body.status;
  const known = V2_STATUS_MEMBERS.flatMap((name) => {
    const v2 = camelCase(name);
    return Object.hasOwn(session, v2) ? [[name, session[v2]] as const] : [];
  });
  return { ...body, status: { ...body.status, session: Object.fromEntries(known) } };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
