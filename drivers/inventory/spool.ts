/** Text that is written once and read back, however much it is. */
import { type FileHandle, open, rm } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';

/** Characters that wait in memory at most. */
const HELD_MAX = 1024 * 1024;
const READ_BYTES = 256 * 1024;

export interface Spool {
  write(text: string): Promise<void>;
  /** Returns all that was written, in pieces; it may be read again. Nothing is written meanwhile. */
  read(): AsyncGenerator<string>;
  close(): Promise<void>;
}

/**
 * Keeps little text in memory, and more in a file that has no name: what a killed process leaves behind is nothing.
 * @param path where the file is made, for the moment that it has a name
 * @param most characters that are kept in memory
 */
export function openSpool(path: string, most = HELD_MAX): Spool {
  let texts: string[] = [];
  let held = 0;
  let file: FileHandle | null = null;
  const made = async (): Promise<FileHandle> => {
    const opened = await open(path, 'wx+', 0o600);
    await rm(path);
    return opened;
  };
  async function* filed(from: FileHandle): AsyncGenerator<string> {
    const decoder = new StringDecoder('utf8');
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    for (let at = 0; ; ) {
      const { bytesRead } = await from.read(buffer, 0, READ_BYTES, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield decoder.write(buffer.subarray(0, bytesRead));
    }
  }
  return {
    write: async (text) => {
      texts.push(text);
      held += text.length;
      if (held <= most) return;
      const all = texts.join('');
      [texts, held] = [[], 0];
      file ??= await made();
      // Goes on where the last one ended.
      await file.writeFile(all);
    },
    read: async function* () {
      if (file !== null) yield* filed(file);
      if (held > 0) yield texts.join('');
    },
    close: async () => {
      await file?.close();
    },
  };
}

/** Returns the records of a spool in lists; `end` stands behind each record, and in none. */
export async function* recordsOf(spool: Spool, end: string): AsyncGenerator<string[]> {
  let rest = '';
  for await (const text of spool.read()) {
    const records = (rest + text).split(end);
    rest = records.pop() ?? '';
    if (records.length > 0) yield records;
  }
}
