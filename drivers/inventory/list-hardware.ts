import type { HardwareEntry } from '../../domain/components/hardware-sync.ts';
import { messageOf } from '../../domain/text/message-of.ts';
import { getHsm, type HsmOptions, hsmUrl, list, member, shownUrl } from './hsm-requests.ts';

export type ListHardware = (signal: AbortSignal) => Promise<HardwareEntry[]>;

/** Tries after the first one; the next pass is the better retry. */
const RETRIES = 2;

/** Lists what a hardware state manager knows (cfs-flows 6.2). Throws an error that names the address and why. */
export function createHardwareList(given: HsmOptions): ListHardware {
  const options = { retries: RETRIES, ...given };
  const url = hsmUrl(options, 'State/Components/');
  return async (signal) => {
    try {
      return list(member(await getHsm(url, options, signal), 'Components')).map((entry) => ({
        ID: member(entry, 'ID'),
        Type: member(entry, 'Type'),
      }));
    } catch (error) {
      signal.throwIfAborted();
      const why = messageOf(error);
      throw new Error(`The hardware state manager did not answer ${shownUrl(url)}: ${why}`);
    }
  };
}
