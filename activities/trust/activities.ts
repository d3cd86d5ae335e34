import type { Trust } from '../../control/trust/trust.ts';
import type { TrustActivities } from '../components/contract.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';

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
