import { musterError } from '../../errors.ts';

/** Kubernetes takes no Secret whose values have more bytes than this in all. */
const SECRET_MAX = 1024 * 1024;
/** Values of fewer bytes are not worth a word: there are fewer than twenty. */
const LARGE = SECRET_MAX / 20;

/** How what may be large becomes smaller, by its key. */
const REMEDIES = new Map([
  [
    'credentials.json',
    "has a source's CA bundle once for each of its layers; leave in its ConfigMap only the CAs of its server",
  ],
  ['known_hosts', 'is that of the Secret muster-ssh; leave in it only hosts that sessions reach'],
  ['ca.crt', 'is the file of MUSTER_CA_FILE; leave in it only CAs that sessions need'],
]);

/** Checks that Kubernetes takes the Secret of a Job. Throws `container_config_invalid`, which names its largest keys and no value. */
export function checkSecretSize(values: Readonly<Record<string, string>>): void {
  const sizes = Object.entries(values)
    .map(([key, value]) => ({ key, bytes: new TextEncoder().encode(value).length }))
    .sort((a, b) => b.bytes - a.bytes);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= SECRET_MAX) return;
  const large = sizes.filter(({ bytes }) => bytes >= LARGE);
  const named = large.map(({ key, bytes }) => `${key} ${bytes}`).join(', ');
  const remedies = large.flatMap(({ key }) => (REMEDIES.has(key) ? [`${key} ${REMEDIES.get(key)}`] : []));
  const sentence = `the Secret of its Job would have ${total} bytes, Kubernetes takes ${SECRET_MAX}: ${named}`;
  throw musterError('container_config_invalid', [sentence, ...remedies].join('. '));
}
