/** What the URL of the page of images says. */
import { listReader } from '../shared/list/filters.ts';

/** Returns what the URL says: `shown` is the image that is looked at. */
export const readImageSearch = listReader([]);
