/** What a client finds out by itself: address, certificate, token, versions, clock. */
import { connect } from 'node:tls';
import type { ApiClient } from '../../client/api-client.ts';
import { ANSWER_TIMEOUT } from '../../client/transport-failure.ts';
import type { CliContext } from '../../context.ts';
import { CliFailure, EXIT } from '../../failure.ts';
import { apiOf, type ServerOptions } from '../../options.ts';
import { duration } from '../../output/times.ts';
import type { StatusAnswer } from '../stack/show-status.ts';

/** One thing that was looked at; `fix` says what to do where it is not well. */
export interface Check {
  name: string;
  ok: boolean;
  detail: string;
  fix: string | null;
}

/** GET /api/v1/system; of an older server GET /api/v1/status, without checks. */
export type SystemAnswer = StatusAnswer & { checks?: Check[] };

const DAY_MS = 86_400_000;
/** A certificate that ends within so long is to be renewed. */
const CERTIFICATE_LEFT_MS = 14 * DAY_MS;
/** A token that ends within so long is to be made anew. */
const TOKEN_LEFT_MS = DAY_MS;
/** Clocks that are further apart make ages and limits wrong. */
const CLOCKS_APART_MS = 30_000;
/** Longest wait for the handshake, ms. */
const HANDSHAKE_MS = 5_000;

/** Looks at the way to the server; `status` is what the server says of itself, null where it does not answer. */
export async function clientChecks(
  context: CliContext,
  options: ServerOptions,
): Promise<{ checks: Check[]; status: SystemAnswer | null }> {
  const url = options.url ?? context.defaultUrl;
  const api = apiOf(context, options);
  const checks = [addressCheck(context, options, url), ...(await certificateCheck(url, context.now()))];
  const token = await tokenCheck(context, api, url);
  checks.push(...token);
  try {
    const answer = await openSystem(api);
    const date = Date.parse(answer.headers.get('date') ?? '');
    const status = (await answer.json()) as SystemAnswer;
    checks.push(versionCheck(context.version, status.versions.muster), clockCheck(date, context.now()));
    return { checks, status };
  } catch (error) {
    const failure = expected(error);
    // Without a right to read nothing more is known, and the check of the token says so.
    if (failure.exit !== EXIT.notAllowed) checks.push(failed('server', failure));
    return { checks, status: null };
  }
}

/** What the server says of itself, in full; an older one has the status alone. */
async function openSystem(api: ApiClient) {
  try {
    return await api.open({ method: 'GET', path: '/api/v1/system' }, { timeout: ANSWER_TIMEOUT });
  } catch (error) {
    if (!(error instanceof CliFailure && error.exit === EXIT.notFound)) throw error;
    return api.open({ method: 'GET', path: '/api/v1/status' }, { timeout: ANSWER_TIMEOUT });
  }
}

function addressCheck({ profile, defaultUrl }: CliContext, options: ServerOptions, url: string): Check {
  const isOfContext = profile !== undefined && options.url === undefined && profile.url === defaultUrl;
  const origin =
    options.url !== undefined
      ? 'of --url'
      : isOfContext
        ? `of context ${profile.name}`
        : 'of this machine or the environment';
  const ok = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
  return {
    name: 'address',
    ok,
    detail: `${url} (${origin})`,
    fix: ok ? null : 'write it like https://muster.example.org',
  };
}

/** Until when the certificate is good; nothing of an address without TLS. */
async function certificateCheck(url: string, now: number): Promise<Check[]> {
  if (!URL.canParse(url) || new URL(url).protocol !== 'https:') return [];
  const { hostname, port } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, '');
  const found = await new Promise<Error | string>((resolve) => {
    // The name of a server is no address.
    const servername = /^[\d.]+$|:/.test(host) ? '' : host;
    const socket = connect({ host, port: Number(port) || 443, servername, timeout: HANDSHAKE_MS });
    const end = (value: Error | string) => {
      socket.destroy();
      resolve(value);
    };
    socket.once('secureConnect', () => end(socket.getPeerCertificate().valid_to));
    socket.once('timeout', () => end(new Error(`no handshake within ${HANDSHAKE_MS / 1000} s`)));
    socket.once('error', end);
  });
  if (found instanceof Error) {
    const fix =
      'name its CA with MUSTER_CA_FILE or `./muster context set NAME --ca-file`, and the server as in the certificate';
    return [{ name: 'certificate', ok: false, detail: found.message, fix }];
  }
  const left = Date.parse(found) - now;
  const ok = left > CERTIFICATE_LEFT_MS;
  const detail = `trusted, valid for ${duration(left)}`;
  return [{ name: 'certificate', ok, detail, fix: ok ? null : 'renew the certificate of the server' }];
}

async function tokenCheck(context: CliContext, api: ApiClient, url: string): Promise<Check[]> {
  try {
    type Asker = { name: string | null; role: string; expires_at: string | null };
    const { name, role, expires_at } = await api.json<Asker>({ method: 'GET', path: '/api/v1/me' });
    const left = expires_at === null ? Number.POSITIVE_INFINITY : Date.parse(expires_at) - context.now();
    const until = expires_at === null ? '' : `, for ${duration(left)}`;
    const detail = name === null ? 'access is not checked' : `${name}, role ${role}${until}`;
    const ok = left > TOKEN_LEFT_MS;
    return [
      {
        name: 'token',
        ok,
        detail,
        fix: ok ? null : '`./muster token create` makes another, `./muster sign-in` keeps it',
      },
    ];
  } catch (error) {
    const failure = expected(error);
    if (failure.code === 'not_found') return [];
    if (failure.exit !== EXIT.notAllowed) return [];
    const fix = failure.fix ?? `\`./muster sign-in --url ${url}\``;
    return [{ name: 'token', ok: false, detail: `${failure.code}: ${failure.message}`, fix }];
  }
}

/** The command line and the server may be one minor version apart. */
export function versionCheck(client: string, server: string): Check {
  const [one = [], other = []] = [client, server].map((text) =>
    text.split('.').map((part) => Number.parseInt(part, 10)),
  );
  const ok = one[0] === other[0] && Math.abs((one[1] ?? 0) - (other[1] ?? 0)) <= 1;
  const detail = client === server ? `${client}, as the server` : `${client}, server ${server}`;
  return {
    name: 'versions',
    ok,
    detail,
    fix: ok ? null : 'use a command line that is at most one minor version apart',
  };
}

/** `server`: what the server's clock said, ms since 1970; NaN where it did not. */
export function clockCheck(server: number, now: number): Check {
  const apart = Number.isNaN(server) ? 0 : Math.abs(server - now);
  const ok = apart <= CLOCKS_APART_MS;
  const detail = apart < 2_000 ? 'as the server' : `${duration(apart)} apart from the server`;
  return { name: 'clock', ok, detail, fix: ok ? null : 'set the clocks, for example by NTP' };
}

const failed = (name: string, { code, message, fix }: CliFailure): Check => ({
  ...{ name, ok: false, detail: `${code}: ${message}` },
  fix: fix ?? null,
});

/** The failure that was expected. Throws every other, and Ctrl-C. */
function expected(error: unknown): CliFailure {
  if (error instanceof CliFailure && error.exit !== EXIT.interrupted) return error;
  throw error;
}
