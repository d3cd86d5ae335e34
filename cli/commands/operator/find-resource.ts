import type { OperatorResourceView } from '../../../domain/operator/view-schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { allPages } from '../../client/pages.ts';
import { CliFailure, EXIT, usage } from '../../failure.ts';

export const RESOURCES = '/api/v1/operator/resources';

export interface OperatorOption {
  operator?: string;
}

/** Returns the path of a resource. */
export const pathOf = ({ id }: Pick<OperatorResourceView, 'id'>): string => `${RESOURCES}/${segment(id)}`;

/**
 * Returns the resource of a kind with a name such as `ns/name`, or `name` where one has it alone.
 * Throws a `CliFailure` where there is none, or several.
 */
export async function findResource(
  api: ApiClient,
  kind: string,
  written: string,
  { operator }: OperatorOption,
): Promise<OperatorResourceView> {
  const [first = '', second, ...more] = written.split('/');
  if (first === '' || second === '' || more.length > 0) {
    throw usage(`'${written}' is no resource`, 'name it as NAME or NAMESPACE/NAME');
  }
  const query = { kind, operator, ...(second === undefined ? { name: first } : { namespace: first, name: second }) };
  const found = await allPages<OperatorResourceView>(api, RESOURCES, 'resources', query);
  const [only, ...others] = found;
  if (only === undefined) {
    const where = operator === undefined ? '' : ` of operator ${operator}`;
    throw new CliFailure('operator_resource_not_found', `there is no ${kind} ${written}${where}`, EXIT.notFound);
  }
  if (others.length === 0) return only;
  const places = found.map((one) => `${one.operator}: ${one.version} ${one.namespace}/${one.name}`);
  throw usage(
    `several resources have this kind and name: ${places.slice(0, 5).join(', ')}`,
    'add --operator NAME, or name it as NAMESPACE/NAME',
  );
}
