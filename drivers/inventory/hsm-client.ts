import type { HsmRecords } from '../../domain/components/inventory/hsm-inventory.ts';
import { musterError } from '../../domain/errors.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import {
  getHsm,
  type HsmOptions,
  hsmUrl,
  list,
  member,
  memberIds,
  optionalText,
  shownUrl,
  text,
} from './hsm-requests.ts';

export interface ReadHsm {
  signal: AbortSignal;
  /** A failed query leaves its part empty, with a warning, instead of failing the inventory (option allow_partial_inventory). */
  allowPartial: boolean;
}

export type HsmClient = (request: ReadHsm) => Promise<{ records: HsmRecords; warnings: string[] }>;

/** The queries of the hardware state manager that an inventory needs (cfs-flows 3.1); fails with `inventory_failed`. */
export function createHsmClient(options: HsmOptions): HsmClient {
  return async ({ signal, allowPartial }) => {
    const warnings: string[] = [];
    const giveUp = new AbortController();
    const both = AbortSignal.any([signal, giveUp.signal]);
    /** One broken entry fails its query, or is left out alone. */
    const entries = <T>(all: unknown[], shown: string, read: (one: unknown) => T): T[] =>
      all.flatMap((one) => {
        try {
          return [read(one)];
        } catch (error) {
          if (!allowPartial) throw error;
          warnings.push(`The inventory is partial: ${shown}: ${messageOf(error)}.`);
          return [];
        }
      });
    const query = async <T>(path: string, read: (answer: unknown, shown: string) => T[]): Promise<T[]> => {
      const url = hsmUrl(options, path);
      const shown = shownUrl(url);
      try {
        return read(await getHsm(url, options, both), shown);
      } catch (error) {
        signal.throwIfAborted();
        const why = messageOf(error);
        if (!allowPartial) {
          giveUp.abort();
          throw musterError('inventory_failed', `The hardware state manager did not answer ${shown}: ${why}.`);
        }
        warnings.push(`The inventory is partial: ${shown}: ${why}.`);
        return [];
      }
    };
    const [groups, partitions, components] = await Promise.all([
      query('groups', (answer, path) =>
        entries(list(answer), path, (one) => {
          const label = text(one, 'label');
          return { label, members: memberIds(one, label) };
        }),
      ),
      query('partitions', (answer, path) =>
        entries(list(answer), path, (one) => {
          const name = text(one, 'name');
          return { name, members: memberIds(one, name) };
        }),
      ),
      query('State/Components?type=node', (answer, path) =>
        entries(list(member(answer, 'Components')), path, (one) => ({
          ID: text(one, 'ID'),
          Role: optionalText(one, 'Role'),
          SubRole: optionalText(one, 'SubRole'),
        })),
      ),
    ]);
    return { records: { groups, partitions, components }, warnings };
  };
}
