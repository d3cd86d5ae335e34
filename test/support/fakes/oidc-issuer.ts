import { createServer, type Server, type ServerResponse } from 'node:http';
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { freePort } from '../free-port.ts';

export interface SigningKey {
  kid: string;
  alg: string;
  privateKey: CryptoKey;
  publicJwk: JWK;
}

/** An issuer on loopback that signs for real and publishes its keys. */
export interface OidcIssuer {
  url: string;
  /** Keys that it publishes. */
  keys: SigningKey[];
  /** How often the keys were asked for. */
  asked(): number;
  /** Answers the keys in this way from now on; undefined: as it should. */
  answerKeys: ((response: ServerResponse) => void) | undefined;
  /** What its discovery document says. */
  discovery: Record<string, unknown>;
  makeKey(kid: string, alg?: string): Promise<SigningKey>;
  /** A token that is right in all; `claims` and `header` make it something else. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>, key?: SigningKey): Promise<string>;
  close(): Promise<void>;
  listenAgain(): Promise<void>;
}

export const AUDIENCE = 'muster-api';

export async function startOidcIssuer(): Promise<OidcIssuer> {
  let asked = 0;
  const server: Server = createServer((request, response) => {
    const json = (body: unknown) => response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
    if (request.url === '/.well-known/openid-configuration') return void json(issuer.discovery);
    if (request.url !== '/keys') return void response.writeHead(404).end();
    asked += 1;
    if (issuer.answerKeys) return issuer.answerKeys(response);
    json({ keys: issuer.keys.map(({ publicJwk }) => publicJwk) });
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  // It may be asked to come back at the port that it had.
  const port = await freePort();
  await listen(port);
  const url = `http://127.0.0.1:${port}`;
  const makeKey = async (kid: string, alg = 'ES256'): Promise<SigningKey> => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    return { kid, alg, privateKey, publicJwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' } };
  };
  const issuer: OidcIssuer = {
    url,
    keys: [await makeKey('first')],
    asked: () => asked,
    answerKeys: undefined,
    discovery: { issuer: url, jwks_uri: `${url}/keys` },
    makeKey,
    sign: async (claims = {}, header = {}, key = issuer.keys[0]) => {
      if (key === undefined) throw new Error('the issuer has no key');
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: url, aud: AUDIENCE, sub: 'u1', iat: now, exp: now + 300, roles: ['reader'], ...claims };
      const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return new SignJWT(kept).setProtectedHeader({ alg: key.alg, kid: key.kid, ...header }).sign(key.privateKey);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    listenAgain: () => listen(port),
  };
  return issuer;
}
