import type { ProxyNotes } from '../../domain/operator/proxy-ports.ts';
import type { ClusterAccess } from '../kubernetes/cluster-access.ts';
import type { AdmittedRuns } from './admitted-runs.ts';
import type { DependentWatches } from './dependent-watches.ts';
import type { DiscoveredKinds } from './discovered-kinds.ts';

/** What every request through the proxy is worked on with. */
export interface ProxyContext {
  access: ClusterAccess;
  kinds: DiscoveredKinds;
  runs: AdmittedRuns;
  notes: ProxyNotes;
  dependents: DependentWatches;
  /** Whether objects are marked as dependents (`--inject-owner-ref`). */
  inject: boolean;
}
