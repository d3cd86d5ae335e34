import type { AdmittedRun } from '../../domain/operator/proxy-ports.ts';
import type { RequestInfo } from '../../domain/operator/request-info.ts';
import { writeOf } from '../../domain/operator/write-list.ts';
import type { ProxyContext } from './proxy-context.ts';

/** Of a request that may write. */
export interface WriteNote {
  /** Whether the name of the object is in the answer alone: the API server makes it of a `generateName`. */
  wantsName: boolean;
  /** Tells of the write where the status says that it was carried out. `name`: that of the answer, where it is wanted. */
  done(status: number, name: string): Promise<void>;
}

/** Begins a note of what a request writes; null where it writes nothing. The list names kinds, and resources where kinds cannot be read now. */
export function noteOfWrite(
  { kinds, notes }: ProxyContext,
  run: AdmittedRun,
  method: string,
  target: string,
  info: RequestInfo | null,
): WriteNote | null {
  if (info === null || writeOf(method, target, info, null) === null) return null;
  const finding = kinds.find(info).catch(() => null);
  return {
    wantsName: method === 'POST' && info.name === '',
    async done(status, name) {
      const isDone = status === 101 || (status >= 200 && status < 300);
      const write = isDone ? writeOf(method, target, info, await finding) : null;
      if (write !== null) notes.wrote(run, write.name === '' ? { ...write, name } : write);
    },
  };
}
