/** Rules for values of options that their schema does not know. */
import { isMusterError, type MusterError, musterError } from '../errors.ts';
import { secretInAddress } from './address-secrets.ts';
import { parseRepositoryUrl, REPOSITORY_SCHEMES } from './repository-url.ts';
import type { Options } from './schema.ts';

const URL_OPTION = 'additional_inventory_url';

/** The refusal of a value of options that is no address of a repository, or has a password in it; null for all others. */
export function wrongOption({
  additional_inventory_url: url,
}: {
  [URL_OPTION]?: Options[typeof URL_OPTION] | undefined;
}): MusterError | null {
  if (!url) return null;
  const secret = secretInAddress(url, URL_OPTION);
  if (secret !== null) return secret;
  try {
    parseRepositoryUrl(url, REPOSITORY_SCHEMES);
    return null;
  } catch (error) {
    if (!isMusterError(error)) throw error;
    const way =
      'Give an address such as https://git.example.com/inventory.git or git@git.example.com:inventory.git, or an empty text for none';
    return musterError('bad_request', `${error.detail} ${way}`, URL_OPTION);
  }
}
