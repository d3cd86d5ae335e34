/** What a code of the catalogue means, and how the lanes' tables of codes become one catalogue. */
export interface ErrorKind {
  /** HTTP status of the problem document. */
  status: number;
  title: string;
  /** Whether an activity that failed with it may be tried again. */
  retryable: boolean;
  /** Exit status of the CLI: 1 failed, 2 usage, 3 not found, 4 not allowed, 5 conflict, 6 timed out, 7 unreachable. */
  exit: number;
  /** Whether it is a fault of the controller, or of what the controller depends on, and of no host. */
  controller: boolean;
  /** What the user of the command line can do about it, where that is known. */
  advice: string | undefined;
}

/** Codes of one lane. */
export type ErrorTable = Readonly<Record<string, ErrorKind>>;

type CodeOf<Tables> = { [Lane in keyof Tables]: keyof Tables[Lane] & string }[keyof Tables];

type More = Partial<Pick<ErrorKind, 'retryable' | 'advice'>>;

/** Returns a refusal or a failure for which hosts may be to blame. Titles of CFS's own situations are its contract (cfs-api 2). */
export function kind(status: number, title: string, exit: number, more: More = {}): ErrorKind {
  return { status, title, exit, retryable: more.retryable ?? false, controller: false, advice: more.advice };
}

/**
 * Returns a failure by which a session could not do its work because of what lies outside its hosts: repository, secret, inventory,
 * disk, cluster, Muster itself. The batcher charges no host for a session that ends with it (see batches/controller-fault.ts).
 */
export function controller(status: number, title: string, exit: number, more: More = {}): ErrorKind {
  return { ...kind(status, title, exit, more), controller: true };
}

/** Returns the codes of all tables, in their order. Throws when two lanes have the same code. */
export function joinTables<const Tables extends Readonly<Record<string, ErrorTable>>>(
  tables: Tables,
): Readonly<Record<CodeOf<Tables>, ErrorKind>> {
  const joined: Record<string, ErrorKind> = {};
  for (const [lane, table] of Object.entries(tables)) {
    for (const [code, meaning] of Object.entries(table)) {
      if (Object.hasOwn(joined, code)) throw new Error(`code ${code} of lane ${lane} is in the table of another lane`);
      joined[code] = meaning;
    }
  }
  return joined as Record<CodeOf<Tables>, ErrorKind>;
}
