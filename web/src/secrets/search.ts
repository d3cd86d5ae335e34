/** What the URL of the page of access says. */
import { listReader } from '../shared/list/filters.ts';

/** Returns what the URL says: `shown` is the secret that is looked at. */
export const readAccessSearch = listReader([]);
