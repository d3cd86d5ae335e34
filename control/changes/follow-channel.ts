import { openListener } from '../../store/connection/listener.ts';

/** Pause between two actions, ms: announcements meanwhile are one. */
const PAUSE_MS = 500;

export interface FollowChannelOptions {
  /** Where it is announced. */
  database: { url: string; ca?: string | undefined };
  /** Shown in pg_stat_activity. */
  name: string;
  channel: string;
  /** What an announcement calls for; a failure is logged. */
  act(): Promise<unknown>;
  log: { warn(fields: object, message: string): void };
}

/**
 * Acts when the database announces something on a channel: on the first of many at once, then once for all that came
 * meanwhile. Also whenever the connection is made, since nothing was heard before. Answers how to stop.
 */
export function followChannel({ database, name, channel, act, log }: FollowChannelOptions): () => Promise<void> {
  let quiet: NodeJS.Timeout | null = null;
  let missed = false;
  const announced = () => {
    missed = quiet !== null;
    if (missed) return;
    quiet = setTimeout(over, PAUSE_MS);
    act().catch((error) => log.warn({ err: String(error) }, `nothing could be done about ${channel}`));
  };
  const over = () => {
    quiet = null;
    if (missed) announced();
  };
  const listener = openListener({ ...database, name, channel, onNotification: announced, onConnected: announced });
  return async () => {
    if (quiet !== null) clearTimeout(quiet);
    await listener.close();
  };
}
