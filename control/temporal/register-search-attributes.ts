import type { Connection } from '@temporalio/client';
import { SEARCH_ATTRIBUTES } from '../../domain/engine/search-attributes.ts';
import { messageOf } from '../../domain/text/message-of.ts';

/** INDEXED_VALUE_TYPE_KEYWORD of Temporal's API. */
const KEYWORD = 2;

/**
 * Makes sure that the namespace knows the search attributes that session workflows carry; those that are there are left
 * alone. A server that does not let us register them must have them already, else no workflow can be started: the error
 * says which.
 */
export async function registerSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = SEARCH_ATTRIBUTES.filter((name) => !(name in (customAttributes ?? {})));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(missing.map((name) => [name, KEYWORD]));
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    const cause = messageOf(error);
    throw new Error(`namespace ${namespace} lacks the search attributes ${missing.join(', ')} (Keyword): ${cause}`);
  }
}
