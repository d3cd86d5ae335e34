import { isMusterError, musterError } from './errors.ts';

/** Does the work; an error of the catalogue that it ends with says in front what it belongs to. */
export async function labelled<T>(label: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isMusterError(error)) throw musterError(error.code, `${label}: ${error.detail}`);
    throw error;
  }
}
