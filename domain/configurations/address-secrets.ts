/** Secrets in addresses of repositories: refused where an address is written, and not shown where an older record has some. */
import { type MusterError, musterError } from '../errors.ts';

const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]*:\/\/)(.*)$/s;
const HOST_AND_PORT = /^(?:\[[^\]]*\]|[^:[\]]*)(?::[0-9]*)?$/;
const COLON = /:|%3a/i;
/** Tokens that forges take as a user without a password, and words as long as one. */
const TOKEN = /^\*{3}$|^(?:gh[a-z]_|github_pat_|gl[a-z]+-|ATBB|ATCTT)|^(?=.*[0-9])(?=.*[A-Za-z])[A-Za-z0-9_-]{32,}$/;
const SECRET_MEMBER = /([?&;#][^=&;#]*(?:token|passw|secret|key|auth|credential|signature)[^=&;#]*=)([^&;#]+)/gi;
/** `user:password@host/path` without a scheme, which git takes for a host and a path. */
const WITHOUT_SCHEME = /^([^\s/:@.]+):([^\s/@]+)@(?=[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::[0-9]+)?\/)/;

/** What is before the host: it may hold unescaped slashes, where the address is wrong just for that. */
function userInfoOf(rest: string): string | null {
  const authority = /^[^/?#]*/.exec(rest)?.[0] ?? '';
  const at = authority.lastIndexOf('@');
  if (at >= 0) return authority.slice(0, at);
  const late = HOST_AND_PORT.test(authority) ? -1 : rest.lastIndexOf('@');
  return late < 0 ? null : rest.slice(0, late);
}

/** The address with `***` in place of every secret in it; any other address is answered as it is. */
export function maskAddress(text: string): string {
  return masked(text, '***');
}

function masked(text: string, mark: string): string {
  const [, scheme, rest] = SCHEME.exec(text) ?? [];
  if (scheme === undefined || rest === undefined) return text.replace(WITHOUT_SCHEME, `$1:${mark}@`);
  const info = userInfoOf(rest);
  const after = info === null ? rest : rest.slice(info.length);
  return `${scheme}${info === null ? '' : maskedInfo(info, mark)}${after.replace(SECRET_MEMBER, `$1${mark}`)}`;
}

function maskedInfo(info: string, mark: string): string {
  const colon = COLON.exec(info);
  if (colon === null) return TOKEN.test(info) ? mark : info;
  return colon.index + colon[0].length === info.length ? info : `${info.slice(0, colon.index)}:${mark}`;
}

/** Whether an address has a password, or a token, in it; the mark that an answer shows in its place counts too. */
export function hasSecret(text: string): boolean {
  return masked(text, '') !== text;
}

/** The refusal of an address with a secret in it, or null; `field` is where it stands. It repeats nothing of the address. */
export function secretInAddress(text: string | undefined, field: string): MusterError | null {
  if (text === undefined || !hasSecret(text)) return null;
  const way =
    'make a source with this address and its credentials (`./muster source apply`), and name the source instead';
  return musterError(
    'password_in_address',
    `The address has a password or token in it: leave it out, and ${way}`,
    field,
  );
}

/** The same for the address of a source itself. */
export function secretInSource(text: string | undefined): MusterError | null {
  if (text === undefined || !hasSecret(text)) return null;
  const way = 'give it as credentials of the source (username, password)';
  return musterError(
    'password_in_address',
    `The address has a password or token in it: leave it out, and ${way}`,
    'clone_url',
  );
}

/** Members of answers that hold addresses, in the words of both versions. */
const MEMBERS =
  /("(?:clone_url|cloneUrl|additional_inventory_url|additionalInventoryUrl|url)":)("(?:[^"\\]|\\.)*[@?#](?:[^"\\]|\\.)*")/g;

/** JSON text in which no address shows a secret. */
export function maskAddresses(json: string): string {
  return json.replace(MEMBERS, (_all, member: string, value: string) => {
    const text: string = JSON.parse(value);
    const shown = maskAddress(text);
    return shown === text ? `${member}${value}` : `${member}${JSON.stringify(shown)}`;
  });
}
