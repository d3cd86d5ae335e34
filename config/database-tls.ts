/**
 * What the address of the database may say of TLS beside a file with its CA. The driver takes what the address says for the whole
 * answer, so that a CA of another setting would be lost.
 */

/** Parameters that ask for TLS, with the values that go together with a CA: the certificate is checked in any case. */
const ASKING: Readonly<Record<string, readonly string[]>> = {
  sslmode: ['require', 'verify-ca', 'verify-full'],
  ssl: ['true', '1'],
};

/** Parameters that name a file; one without a value names none. */
const FILES = ['sslrootcert', 'sslcert', 'sslkey'];

interface Parameter {
  /** As it is written. */
  text: string;
  name: string;
  value: string;
}

/** Why the address cannot be used beside the file with the CA, as variable and sentence; no sentence holds a password. */
export function databaseMistakes(env: {
  MUSTER_DATABASE_URL?: string | undefined;
  MUSTER_DATABASE_CA_FILE?: string | undefined;
}): [name: string, message: string][] {
  const { MUSTER_DATABASE_URL: url, MUSTER_DATABASE_CA_FILE: caFile } = env;
  if (caFile === undefined) return [];
  if (url === undefined) {
    const fix = 'name that server in MUSTER_DATABASE_URL, or leave the CA out';
    return [['MUSTER_DATABASE_CA_FILE', `is for a Postgres of your own, the embedded one speaks no TLS: ${fix}`]];
  }
  return tlsMistakes(url).map((message) => ['MUSTER_DATABASE_URL', message]);
}

function tlsMistakes(url: string): string[] {
  return parametersOf(url).flatMap(({ name, value }) => {
    if (name === 'sslrootcert') {
      return ['sslrootcert names a CA, and MUSTER_DATABASE_CA_FILE another: leave out one of them'];
    }
    // From these the driver makes options of its own, and reads files for each connection: no CA can be added to them.
    if (name === 'sslcert' || name === 'sslkey' || (name === 'sslnegotiation' && value === 'direct')) {
      return [`${name} goes together with sslrootcert only: name the CA so, and unset MUSTER_DATABASE_CA_FILE`];
    }
    const fitting = Object.hasOwn(ASKING, name) ? ASKING[name] : undefined;
    if (fitting === undefined || fitting.includes(value)) return [];
    const fix = 'leave it out or write sslmode=verify-full, or unset MUSTER_DATABASE_CA_FILE';
    return [`${name}=${value} does not check the server by the CA in MUSTER_DATABASE_CA_FILE: ${fix}`];
  });
}

/** The address without the parameters that ask for TLS, for a driver that is told the CA; all others stay as they are written. */
export function withoutTlsWords(url: string): string {
  const kept = parametersOf(url).filter(({ name }) => !Object.hasOwn(ASKING, name));
  const [base = ''] = url.split('?', 1);
  return kept.length === 0 ? base : `${base}?${kept.map(({ text }) => text).join('&')}`;
}

/** Files that the address names and the driver reads, as parameter and path. */
export function filesOf(url: string): [parameter: string, path: string][] {
  const named = parametersOf(url).filter(({ name, value }) => FILES.includes(name) && value !== '');
  return named.map(({ name, value }) => [name, value]);
}

function parametersOf(url: string): Parameter[] {
  const start = url.indexOf('?');
  if (start < 0) return [];
  return url
    .slice(start + 1)
    .split('&')
    .flatMap((text) => [...new URLSearchParams(text)].map(([name, value]) => ({ text, name, value })));
}
