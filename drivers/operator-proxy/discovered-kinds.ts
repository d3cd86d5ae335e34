/** Kinds of the cluster by their names in paths. */
import type { DiscoveredResource } from '../../domain/operator/owner-mark.ts';
import type { RequestInfo } from '../../domain/operator/request-info.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import { exchange } from '../kubernetes/exchange.ts';
import { ABSENT } from '../kubernetes/statuses.ts';

/** How long what the cluster said of a group and version is taken as it was, ms: a kind may be removed and made again. */
const FRESH_MS = 60_000;
const ANSWER_MS = 30_000;

export interface DiscoveredKind extends DiscoveredResource {
  kind: string;
}

type Kinds = ReadonlyMap<string, DiscoveredKind>;
type Asked = Pick<RequestInfo, 'group' | 'version' | 'resource'>;

export interface DiscoveredKinds {
  /**
   * The kind of a resource; null where the cluster knows none of that name, which it is asked each time: a playbook may have made it just now.
   * Throws where it cannot be asked.
   */
  find(asked: Asked): Promise<DiscoveredKind | null>;
}

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean; verbs?: string[] }[];
}

/** Opens what is known of the kinds, nothing at first. */
export function openDiscoveredKinds(access: ClusterAccess): DiscoveredKinds {
  const known = new Map<string, { kinds: Kinds; until: number }>();
  const reading = new Map<string, Promise<Kinds>>();

  const read = async (path: string): Promise<Kinds> => {
    const { status, bytes } = await exchange(
      await access.read(),
      { method: 'GET', path, accept: 'application/json' },
      { withinMs: ANSWER_MS, mostBytes: () => Number.POSITIVE_INFINITY },
    );
    if (status !== ABSENT && status >= 300) throw new Error(`GET ${path}: the API server answers ${status}`);
    // A group that it does not know is answered in plain text.
    const body = status === ABSENT ? {} : (JSON.parse(bytes.toString('utf8')) as ResourceList);
    const listed = body.resources ?? [];
    const kinds = new Map(
      listed.map(({ name, kind, namespaced, verbs = [] }) => [name, { kind, namespaced, verbs }] as const),
    );
    known.set(path, { kinds, until: Date.now() + FRESH_MS });
    return kinds;
  };

  /** Requests that come together share one reading. */
  const share = (path: string): Promise<Kinds> => {
    const shared = reading.get(path) ?? read(path).finally(() => reading.delete(path));
    reading.set(path, shared);
    return shared;
  };

  return {
    async find({ group, version, resource }) {
      const path = group === '' ? `/api/${segment(version)}` : `/apis/${segment(group)}/${segment(version)}`;
      const fresh = known.get(path);
      const found = fresh !== undefined && Date.now() < fresh.until ? fresh.kinds.get(resource) : undefined;
      return found ?? (await share(path)).get(resource) ?? null;
    },
  };
}

const segment = encodeURIComponent;
