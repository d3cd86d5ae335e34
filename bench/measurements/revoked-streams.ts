/** How long what was open goes on when its token has been revoked. */
import { setTimeout as delay } from 'node:timers/promises';
import type { TokenCreate } from '../../domain/access/schema.ts';
import { openEvents } from '../../test/sessions/streams/event-reader.ts';
import { type Measurement, round } from '../measurement.ts';
import { quantile } from '../statistics.ts';

const BAR_S = 5;
const STREAMS = 60;
/** No part of the pause between two looks at the tokens, so that each part of it has its share. */
const BETWEEN_MS = 310;
const REVOKED = 204;

/** An API that asks for tokens. */
export interface TokenApi {
  url: string;
  /** Makes a token without asking the API. */
  make(token: TokenCreate): Promise<string>;
}

export async function measureRevoked({ url, make }: TokenApi): Promise<Measurement> {
  const admin = await make({ role: 'admin', name: 'bench' });
  const send = async (method: string, path: string, body?: object, token = admin) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const answer = await fetch(url + path, { method, headers, ...(body ? { body: JSON.stringify(body) } : {}) });
    await answer.text();
    return answer.status;
  };
  const layers = [{ clone_url: 'https://vcs.example.test/site.git', playbook: 'site.yml', commit: 'a'.repeat(40) }];
  await send('PUT', '/v3/configurations/site', { layers });
  const created = await send('POST', '/v3/sessions', { name: 'open', configuration_name: 'site' });
  if (created !== 201) throw new Error(`POST session: ${created}`);
  const names = Array.from({ length: STREAMS }, (_, index) => `reader-${index}`);
  const readers = await Promise.all(
    names.map(async (name) => {
      const token = await make({ role: 'reader', name });
      const headers = { authorization: `Bearer ${token}` };
      return { name, token, stream: await openEvents(`${url}/api/v1/sessions/open/events`, headers) };
    }),
  );
  let served = 0;
  const ends: Promise<number>[] = [];
  for (const { name, token, stream } of readers) {
    await delay(BETWEEN_MS);
    const status = await send('DELETE', `/api/v1/tokens/${name}`);
    if (status !== REVOKED) throw new Error(`DELETE token: ${status}`);
    const revoked = performance.now();
    const passed = () => (performance.now() - revoked) / 1000;
    // A stream that is broken off ends too.
    ends.push(stream.ended.then(passed, passed));
    if ((await send('GET', '/v3/options', undefined, token)) !== 401) served += 1;
  }
  const samples = await Promise.all(ends);
  const longest = Math.max(...samples);
  return {
    what: 'live streams of a revoked token',
    bar: `ended within ${BAR_S} s, the next request refused`,
    measured: `p50 ${round(quantile(samples, 0.5))} s, max ${round(longest)} s; ${served} of ${STREAMS} next requests served`,
    met: longest <= BAR_S && served === 0,
    samples: { seconds: samples.map((sample) => round(sample, 3)) },
  };
}
