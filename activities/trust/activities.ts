import type { Tell } from '../../control/temporal/tell.ts';
import type { Trust } from '../../control/trust/trust.ts';
import { wantedRenewal } from '../../control/trust/wanted-renewal.ts';
import { withHeartbeat } from '../heartbeat.ts';
import { parseInputs } from '../parse-inputs.ts';
import type { TrustActivities } from './contract.ts';

/** Between two renewals (ms) that the sweep asks for: as long as with the Schedule, so that an authority that is away is not asked more. */
const ASK_AGAIN_MS = 10 * 60_000;

export interface TrustSweepDependencies {
  trust: Pick<Trust, 'isRenewalWanted'>;
  tell: Tell;
  clock(): Date;
}

/** Makes the part of lane trust in the sweep: it asks for a renewal where something is due that the Schedule has not renewed. */
export function createTrustSweep({ trust, tell, clock }: TrustSweepDependencies): () => Promise<void> {
  let askAfter = 0;
  return async () => {
    const now = clock().getTime();
    if (now < askAfter || !(await trust.isRenewalWanted())) return;
    askAfter = now + ASK_AGAIN_MS;
    await tell([wantedRenewal()]);
  };
}

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
