import type { Trust } from '../../control/trust/trust.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { TrustActivities } from './contract.ts';

/** Keeps what sessions show to hosts valid (cfs-flows 6.3). */
export function createTrustActivities({ trust }: { trust: Pick<Trust, 'renew'> }): TrustActivities {
  return parseInputs<TrustActivities>(
    { renewTrust: null },
    {
      renewTrust: () =>
        withHeartbeat(async () => {
          const { published, validBefore } = await trust.renew();
          return { published, validBefore: validBefore?.toISOString() ?? null };
        }),
    },
  );
}
