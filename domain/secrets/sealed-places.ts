/** What sealed values are bound to. */

/** What a sealed address is bound to: it opens for this webhook alone. */
export function webhookAddressPlace(webhook: string): string {
  return `address of webhook ${webhook}`;
}
