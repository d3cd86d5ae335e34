/** `COPY` over a plain connection: whole tables out of a database and into another, without a client program of Postgres. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type pg from 'pg';
import type { SavedTable } from '../../domain/backup-schema.ts';

/** Rows are handed on in pieces of about so many bytes. */
const PIECE_BYTES = 4 * 2 ** 20;
/** So many pieces are on their way while the next is read. */
const PIECES_AHEAD = 2;
/** Bytes that are given to the connection at once, and that it may have queued for the server. */
const SENT_BYTES = 2 ** 20;

/** What the driver's connection offers to a query of one's own. */
interface Wire {
  query(text: string): void;
  stream: Writable & { pause(): void; resume(): void };
  sendCopyFromChunk(chunk: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(message: string): void;
}

/** The part that both directions share: the driver calls the handlers until the server is ready for the next query. */
class Copy {
  readonly done: Promise<number>;
  private readonly text: string;
  private resolve: (rows: number) => void = () => undefined;
  private reject: (error: Error) => void = () => undefined;
  protected rows = 0;

  constructor(text: string) {
    this.text = text;
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.done.catch(() => undefined);
  }

  submit(connection: unknown): void {
    (connection as Wire).query(this.text);
  }

  handleCommandComplete({ text }: { text: string }): void {
    this.rows = Number(/^COPY (\d+)$/.exec(text)?.[1] ?? Number.NaN);
  }

  handleReadyForQuery(): void {
    this.resolve(this.rows);
  }

  handleError(error: Error): void {
    this.reject(error);
  }
}

class CopyOut extends Copy {
  /** Rows are written one behind the other into one buffer: an object for each of them was most of the work. */
  private piece = Buffer.allocUnsafe(PIECE_BYTES);
  private size = 0;
  private ahead = 0;
  private taken: Promise<void> = Promise.resolve();
  private readonly take: (piece: Buffer) => Promise<void>;

  constructor(text: string, take: (piece: Buffer) => Promise<void>) {
    super(text);
    this.take = take;
  }

  handleCopyData({ chunk }: { chunk: Buffer }, { stream }: Wire): void {
    if (this.size + chunk.length > this.piece.length) this.makeRoom(chunk.length, stream);
    this.size += chunk.copy(this.piece, this.size);
  }

  override handleReadyForQuery(): void {
    this.flush().then(
      () => super.handleReadyForQuery(),
      (error: Error) => this.handleError(error),
    );
  }

  /** Hands on what is there, and begins a piece in which a row of this length has room. */
  private makeRoom(length: number, stream: Wire['stream']): void {
    this.ahead += 1;
    if (this.ahead >= PIECES_AHEAD) stream.pause();
    this.flush().then(
      () => {
        this.ahead -= 1;
        if (this.ahead < PIECES_AHEAD) stream.resume();
      },
      (error: Error) => {
        this.handleError(error);
        stream.destroy();
      },
    );
    this.piece = Buffer.allocUnsafe(Math.max(PIECE_BYTES, length));
  }

  /** Hands on what has come, in the order in which it came. */
  private flush(): Promise<void> {
    const piece = this.piece.subarray(0, this.size);
    this.size = 0;
    if (piece.length > 0) this.taken = this.taken.then(() => this.take(piece));
    return this.taken;
  }
}

class CopyIn extends Copy {
  private readonly piece: Buffer;

  constructor(text: string, piece: Buffer) {
    super(text);
    this.piece = piece;
  }

  handleCopyInResponse(connection: Wire): void {
    void this.send(connection);
  }

  private async send(connection: Wire): Promise<void> {
    for (let start = 0; start < this.piece.length; start += SENT_BYTES) {
      connection.sendCopyFromChunk(this.piece.subarray(start, start + SENT_BYTES));
      if (connection.stream.destroyed) return;
      if (connection.stream.writableLength > SENT_BYTES) await once(connection.stream, 'drain').catch(() => undefined);
    }
    connection.endCopyFrom();
  }
}

export type StoredTable = Pick<SavedTable, 'name' | 'columns'>;

/**
 * Reads a table as rows of COPY's text form, in pieces of whole rows; the next piece is read when `take` has taken the one before.
 * @returns the number of rows
 */
export function copyOut(
  client: pg.Client,
  table: StoredTable,
  take: (piece: Buffer) => Promise<void>,
): Promise<number> {
  return client.query(new CopyOut(`copy ${listed(client, table)} to stdout`, take)).done;
}

/** Writes rows of COPY's text form into a table; answers how many there were. */
export function copyIn(client: pg.Client, table: StoredTable, piece: Buffer): Promise<number> {
  return client.query(new CopyIn(`copy ${listed(client, table)} from stdin`, piece)).done;
}

function listed(client: pg.Client, { name, columns }: StoredTable): string {
  return `${client.escapeIdentifier(name)} (${columns.map((column) => client.escapeIdentifier(column)).join(', ')})`;
}
