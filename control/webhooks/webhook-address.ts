/** Whole addresses of webhooks: sealed in the database, opened where something is sent there. */

import { isMusterError } from '../../domain/errors.ts';
import { webhookAddressPlace } from '../../domain/secrets/sealed-places.ts';
import { isShownAddress, shownWebhookAddress } from '../../domain/webhooks/webhook-address.ts';
import type { Db } from '../../store/connection/database.ts';
import { isWithoutUnsealing } from '../../store/connection/process-names.ts';
import { holdKey } from '../../store/secrets/key-lock.ts';
import { listOpenAddresses, storeSealed } from '../../store/webhooks/webhook-addresses.ts';
import { findWebhook, type WebhookRow } from '../../store/webhooks/webhooks.ts';
import type { AddressSeal } from './address-seal.ts';

export interface AddressDependencies {
  db: Db;
  addressSeal: AddressSeal;
}

/** The columns that hold an address. Where the key may be changed by `secret rotate-key`, the transaction holds it. */
export async function sealedAddress(seal: AddressSeal, webhook: string, address: string) {
  const sealed = await seal.seal(address, webhookAddressPlace(webhook));
  return { url: shownWebhookAddress(address), sealed_url: sealed };
}

/**
 * The whole address of a webhook.
 * @throws Error that says what to do when the address is not known, or cannot be opened
 */
export async function wholeAddress({ db, addressSeal }: AddressDependencies, row: WebhookRow): Promise<string> {
  if (!isShownAddress(row.url)) return row.url;
  const opened = await open(addressSeal, row).catch(async (error) => {
    if (!isMusterError(error)) throw error;
    // The key may have been changed between the two steps.
    const again = await findWebhook(db, row.name);
    return again && open(addressSeal, again);
  });
  // An older release has written what it was shown, of this address or of another one.
  if (opened === null || shownWebhookAddress(opened) !== row.url)
    throw new Error('its address is not known: set it again');
  return opened;
}

async function open(seal: AddressSeal, { name, sealed_url }: WebhookRow): Promise<string | null> {
  return sealed_url === null ? null : seal.open(sealed_url, webhookAddressPlace(name));
}

/** Seals addresses that an older release has written, once no older release is there that could read them no more. Answers how many. */
export async function sealOpenAddresses({ db, addressSeal }: AddressDependencies): Promise<number> {
  const found = (await listOpenAddresses(db)).filter(({ url }) => !isShownAddress(url));
  if (found.length === 0 || !(await isWithoutUnsealing(db))) return 0;
  let count = 0;
  for (const webhook of found) {
    const isSealed = await db.transaction().execute(async (trx) => {
      await holdKey(trx);
      return storeSealed(trx, webhook, await sealedAddress(addressSeal, webhook.name, webhook.url));
    });
    if (isSealed) count += 1;
  }
  return count;
}
