/** One connection that hears what other processes announce on a channel of Postgres. */
import pg from 'pg';
import { beginConnection } from './vanished-clients.ts';

export interface ListenerOptions {
  url: string;
  /** PEM of the CA of the database server. */
  ca?: string | undefined;
  /** Shown in pg_stat_activity. */
  name: string;
  /** A plain word. */
  channel: string;
  /** Something was announced. */
  onNotification(payload: string): void;
  /** The connection stands, for the first time or again: what was announced before was not heard. */
  onConnected(): void;
  /** Pause before a lost connection is made again, ms. Default 1,000. */
  reconnectMs?: number;
}

export interface Listener {
  close(): Promise<void>;
}

/** Listens from now on and connects again whenever the connection is lost; never rejects. */
export function openListener(options: ListenerOptions): Listener {
  const { url, ca, name, channel, onNotification, onConnected, reconnectMs = 1_000 } = options;
  let client: pg.Client | null = null;
  let retry: NodeJS.Timeout | null = null;
  let closed = false;

  const lost = (gone: pg.Client) => {
    if (client !== gone) return;
    client = null;
    gone.end().catch(() => undefined);
    if (closed) return;
    retry = setTimeout(connect, reconnectMs);
    retry.unref();
  };
  const connect = () => {
    if (closed) return;
    const opened = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 4_000,
      application_name: name,
      ...(ca ? { ssl: { ca } } : {}),
    });
    client = opened;
    opened.on('error', () => lost(opened));
    opened.on('end', () => lost(opened));
    opened.on('notification', ({ payload }) => onNotification(payload ?? ''));
    opened
      .connect()
      .then(() => opened.query(`${beginConnection()}; listen ${channel}`))
      .then(onConnected, () => lost(opened));
  };
  connect();

  return {
    close: async () => {
      closed = true;
      if (retry !== null) clearTimeout(retry);
      const open = client;
      client = null;
      await open?.end().catch(() => undefined);
    },
  };
}
