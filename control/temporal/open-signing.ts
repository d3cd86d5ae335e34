import type { Kysely } from 'kysely';
import type { Database } from '../../store/tables.ts';
import { followMacRequirement, type MacRequirement } from './mac-requirement.ts';
import type { Signing } from './signing.ts';

export interface OpenSigning {
  /** Null where the process has no key. */
  signing: Signing | null;
  /**
   * Begins to follow from when on MACs are required, once the database is in shape; until then what has none counts.
   * @throws `mac_key_unusable` when the installation signs with another key
   */
  follow(): Promise<void>;
  stop(): Promise<void>;
}

/** How this process signs what goes through Temporal. Without a key it signs nothing, says so, and keeps the others from requiring it. */
export function openSigning(
  db: Kysely<Database>,
  key: Buffer | null,
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void },
): OpenSigning {
  if (key === null) {
    log.warn({}, 'there is no key for MACs (MUSTER_MAC_KEY_FILE): what goes through Temporal is not signed');
    return { signing: null, follow: async () => undefined, stop: async () => undefined };
  }
  let requirement: MacRequirement | null = null;
  return {
    signing: { key, requiredSince: () => requirement?.requiredSince() ?? null },
    follow: async () => {
      requirement ??= await followMacRequirement({ db, key, log });
    },
    stop: async () => requirement?.stop(),
  };
}
