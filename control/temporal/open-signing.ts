import type { Db } from '../../store/connection/database.ts';
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

/**
 * How this process signs what goes through Temporal. Without a key it signs nothing, says so, and keeps the others from requiring it.
 * @param findKey null where the process has no key
 */
export function openSigning(
  db: Db,
  findKey: (() => Buffer) | null,
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void },
): OpenSigning {
  if (findKey === null) {
    log.warn({}, 'there is no key for MACs (MUSTER_MAC_KEY_FILE): what goes through Temporal is not signed');
    return { signing: null, follow: async () => undefined, stop: async () => undefined };
  }
  let found: Buffer | null = null;
  // Before the set-up of a new installation there is no key, and nothing to say.
  const key = () => {
    found ??= findKey();
    return found;
  };
  let requirement: MacRequirement | null = null;
  return {
    signing: { key, requiredSince: () => requirement?.requiredSince() ?? null },
    follow: async () => {
      requirement ??= await followMacRequirement({ db, key: key(), log });
    },
    stop: async () => requirement?.stop(),
  };
}
