import { openAddressSeal } from '../../../control/webhooks/address-seal.ts';
import type { ApiShared } from '../../shared/api-shared.ts';

export type WebhookApi = ReturnType<typeof webhookApi>;

/** Returns what the routes of webhooks work with. */
export function webhookApi(shared: ApiShared) {
  const { secrets, cipher } = shared.site;
  return { ...shared, secrets, addressSeal: openAddressSeal(shared.db, secrets, cipher) };
}
