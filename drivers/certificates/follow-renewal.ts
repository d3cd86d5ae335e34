/** Certificates and keys that a process reads at its start: when they are renewed, it has to be started again. */
import { createHash, createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';

/** How often the files are looked at, ms: renewals come days before the end. */
const LOOK_EVERY_MS = 10_000;
/** Whoever waits for an idle moment has to have one so long before the old certificates end, ms. */
const SPARE_MS = 300_000;
/** Processes of one installation see a renewal at the same time, and end within this time, ms, not all at once. */
const SPREAD_MS = 60_000;

export interface PemFiles {
  /** Path of each file by the setting that names it. */
  files: Readonly<Record<string, string>>;
  /** Settings of a certificate and its key, which have to fit; undefined: there is no key among the files. */
  pair?: { cert: string; key: string } | undefined;
}

export interface RenewalOptions {
  /** Ends the process in its ordinary way, so that whoever runs it starts it again; called once. */
  stop(): void;
  /**
   * Whether nothing is under work that would not survive the end; asked again and again until 5 min before the first of the old
   * certificates ends. Default: it may end at any time.
   */
  isIdle?: () => Promise<boolean>;
  log: { info(fields: object, text: string): void; warn(fields: object, text: string): void };
  /** How often the files are looked at, ms. Default 10 s. */
  everyMs?: number;
  /** Time between a renewal and the end, ms. Default a random one, below a minute. */
  waitMs?: () => number;
}

export interface RememberedFiles {
  /**
   * Stops the process once the files hold something else than when they were remembered. It has to be the same at two looks, and
   * whole: a file that is missing for a moment, half written, or does not fit the others changes nothing.
   * @returns ends the looking
   */
  stopWhenRenewed(options: RenewalOptions): () => void;
}

/** Remembers what the files hold now; to be called before they are read, so that no renewal falls in between. */
export async function rememberPemFiles(pem: PemFiles): Promise<RememberedFiles> {
  const begun = await textsOf(pem.files);
  const latest = firstEnd(begun, pem.pair) - SPARE_MS;
  let known = digestsOf(begun);
  return {
    stopWhenRenewed({ stop, log, isIdle, everyMs = LOOK_EVERY_MS, waitMs = () => Math.random() * SPREAD_MS }) {
      if (Object.keys(pem.files).length === 0) return () => undefined;
      let seen: Digests | null = null;
      let complained: string | null = null;
      let over = false;
      let timer: NodeJS.Timeout;
      const again = (work: () => void, ms: number) => {
        if (!over) timer = setTimeout(work, ms).unref();
      };
      /** Settings whose files are renewed, for sure; none while that is not known. */
      const renewed = async (): Promise<string[]> => {
        const texts = await textsOf(pem.files);
        const before = seen;
        seen = digestsOf(texts);
        known ??= seen;
        if (texts === null || changed(before, seen).length > 0) return [];
        const settings = changed(known, seen);
        const problem = settings.length === 0 ? null : problemOf(texts, pem.pair);
        if (problem !== null && problem !== complained) {
          log.warn({ reason: problem }, 'the new certificates cannot be used');
        }
        complained = problem;
        return problem === null ? settings : [];
      };
      let waits = false;
      /** What cannot be asked is taken for work. */
      const mayEnd = async () => isIdle === undefined || Date.now() >= latest || (await isIdle().catch(() => false));
      const look = async () => {
        const settings = await renewed();
        if (settings.length === 0) return again(look, everyMs);
        const files = settings.map((setting) => `${setting}: ${pem.files[setting]}`);
        if (!(await mayEnd())) {
          if (!waits) log.info({ files }, 'certificates were renewed: this process ends as soon as its work allows it');
          waits = true;
          return again(look, everyMs);
        }
        const wait = isIdle === undefined ? waitMs() : 0;
        const seconds = Math.ceil(wait / 1000);
        log.info({ files, seconds }, 'certificates were renewed: this process ends, to be started again with them');
        again(stop, wait);
      };
      again(look, everyMs);
      return () => {
        over = true;
        clearTimeout(timer);
      };
    },
  };
}

type Texts = ReadonlyMap<string, string>;
type Digests = ReadonlyMap<string, string>;

/** What each file holds, by its setting; null while one cannot be read. */
async function textsOf(files: PemFiles['files']): Promise<Texts | null> {
  try {
    return new Map(
      await Promise.all(
        Object.entries(files).map(async ([setting, path]) => [setting, await readFile(path, 'utf8')] as const),
      ),
    );
  } catch {
    return null;
  }
}

/** Keys are not kept for this. */
function digestsOf(texts: Texts | null): Digests | null {
  if (texts === null) return null;
  return new Map([...texts].map(([setting, text]) => [setting, createHash('sha256').update(text).digest('hex')]));
}

/** Settings whose file differs; all of them where one side is not known. */
function changed(before: Digests | null, after: Digests | null): string[] {
  const settings = [...(before ?? after ?? new Map<string, string>()).keys()];
  return settings.filter((setting) => before === null || after === null || before.get(setting) !== after.get(setting));
}

/** When the first of these certificates ends, ms since 1970; at once where that is not known. */
function firstEnd(texts: Texts | null, pair: PemFiles['pair']): number {
  if (texts === null || problemOf(texts, pair) !== null) return 0;
  const certificates = [...texts].flatMap(([setting, text]) => (setting === pair?.key ? [] : certificatesOf(text)));
  return Math.min(...certificates.map((one) => new X509Certificate(one).validToDate.getTime()));
}

/** Why a process could not start with these; null: it can. */
function problemOf(texts: Texts, pair: PemFiles['pair']): string | null {
  for (const [setting, text] of texts) {
    const isKey = setting === pair?.key;
    try {
      if (isKey) createPrivateKey(text);
      else for (const certificate of certificatesOf(text)) new X509Certificate(certificate);
    } catch {
      return `${setting} holds no whole ${isKey ? 'private key' : 'certificates'}`;
    }
  }
  if (pair === undefined) return null;
  const [cert = '', key = ''] = [texts.get(pair.cert), texts.get(pair.key)];
  if (new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) return null;
  return `${pair.key} is not the key of the certificate in ${pair.cert}`;
}

/** @throws {Error} when there is none, or one that is cut off */
function certificatesOf(pem: string): string[] {
  const whole = pem.match(/-----BEGIN ((?:X509 |TRUSTED )?CERTIFICATE)-----[^-]*-----END \1-----/g) ?? [];
  const begun = pem.match(/-----BEGIN (?:X509 |TRUSTED )?CERTIFICATE-----/g) ?? [];
  if (whole.length === 0 || whole.length < begun.length) throw new Error('it is not whole');
  return whole;
}
