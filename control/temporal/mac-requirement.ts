/** When what has no MAC stops to count: signing comes first, refusing second, so that an upgrade loses no session. */
import { createHmac } from 'node:crypto';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import {
  dropRequirement,
  hasSessions,
  hasUnsigning,
  keepKeyPrint,
  noteSigner,
  readRequiredSince,
  requireMacs,
  wasGoneBack,
} from '../../store/connection/required-macs.ts';

/** Between two looks, ms: an older release that comes back is seen before it takes requests. */
const LOOK_MS = 2_000;
/** So many looks in a row must find nobody who does not sign: a process that connects again is away for a moment. */
const LOOKS = 15;
/** Every process hears of the requirement before it counts, seconds. */
const GRACE_SECONDS = 30;
/** For so long a process that signs may not have said that it is there, seconds. */
const SILENT_SECONDS = 120;

export interface MacRequirement {
  /** From when on what has no MAC is refused; null: it counts still. */
  requiredSince(): Date | null;
  stop(): Promise<void>;
}

export interface MacRequirementOptions {
  db: Db;
  key: Buffer;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Between two looks, ms; default 2,000. */
  lookMs?: number;
}

/** By what a key is known in the database, of which it cannot be found out. */
const printOf = (key: Buffer): string =>
  createHmac('sha256', key).update('print of the key').digest('base64url').slice(0, 22);

/**
 * Follows the requirement for as long as the process runs, and brings it about when nobody is left who does not sign.
 * @throws `mac_key_unusable` when other processes of the installation sign with another key
 */
export async function followMacRequirement(options: MacRequirementOptions): Promise<MacRequirement> {
  const { db, key, log, lookMs = LOOK_MS } = options;
  const print = printOf(key);
  if ((await keepKeyPrint(db, print)) !== print) {
    throw musterError(
      'mac_key_unusable',
      'The key of the MACs (MUSTER_MAC_KEY_FILE, or mac.key in the data directory) is not the one with which this installation ' +
        'signs: give every API and worker the same file; if that key is lost, end all sessions and set mac_key_print of table ' +
        'installation to null',
    );
  }
  if (await wasGoneBack(db, SILENT_SECONDS)) {
    log.warn({}, 'an older release has made sessions meanwhile: what it has said to Temporal counts');
    await dropRequirement(db);
  }
  let looks = 0;
  let since: Date | null = null;
  const look = async () => {
    await noteSigner(db);
    if (await hasUnsigning(db)) {
      looks = 0;
      await dropRequirement(db);
    } else {
      looks += 1;
      if (looks >= LOOKS || !(await hasSessions(db))) await requireMacs(db, GRACE_SECONDS);
    }
    const now = await readRequiredSince(db);
    if (now?.getTime() !== since?.getTime()) log.info({ since: now }, 'MACs required of what goes through Temporal');
    since = now;
  };
  await look();
  let working: Promise<void> = Promise.resolve();
  const timer = setInterval(() => {
    working = look().catch((error) => log.warn({ err: String(error) }, 'the requirement of MACs cannot be read'));
  }, lookMs).unref();
  return {
    requiredSince: () => since,
    stop: async () => {
      clearInterval(timer);
      await working;
    },
  };
}
