import { isMusterError } from '../../../domain/errors.ts';

/** Returns code and sentence of what a piece of work throws; null when it throws nothing. Other errors go on. */
export function refusalOf(work: () => unknown): { code: string; detail: string; field: string | undefined } | null {
  try {
    work();
    return null;
  } catch (error) {
    if (!isMusterError(error)) throw error;
    return { code: error.code, detail: error.detail, field: error.field };
  }
}
