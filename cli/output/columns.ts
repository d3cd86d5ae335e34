/** One column of a table: its title and the text of a record's cell. */
export interface Column<T> {
  title: string;
  value(record: T): string;
  /** What `tsv` holds in place of that, where programs are told otherwise than people. */
  data?(record: T): string;
  /** What `--sort` compares in place of the text, where the text is a length of time or a share. */
  order?(record: T): number;
  /** Shown by `wide` and `tsv` only. */
  wide?: boolean;
}

/** How records of one kind are shown. */
export interface View<T> {
  /** Word for the messages: `session`. */
  noun: string;
  columns: Column<T>[];
  /** What `-o name` prints. */
  name(record: T): string;
}

/** Text of a cell: nothing for what is absent. */
export const cell = (value: string | number | boolean | null | undefined): string =>
  value === null || value === undefined ? '' : String(value);

/** Tags as `k=v,k=v`, in the order of their names. */
export const tagCell = (tags: Record<string, string> = {}): string =>
  Object.keys(tags)
    .sort()
    .map((name) => `${name}=${tags[name]}`)
    .join(',');
