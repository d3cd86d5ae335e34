/** Requests to a member cluster without Muster, over connections that are kept; they add as little as they can. */
import { Agent, request } from 'node:https';
import type { BareObject } from './deployment-objects.ts';

const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';

export interface BareMember {
  /** Server-side apply. Throws where it is refused, as the others do. */
  apply(object: BareObject): Promise<void>;
  /** Reads the object, then deletes it as it was read. */
  remove(object: BareObject): Promise<void>;
  /** Deletes the object, whatever it is. */
  drop(object: BareObject): Promise<void>;
  close(): void;
}

/** Opens a member with so many connections at most. */
export function openBareMember(kubeconfig: string, connections: number): BareMember {
  const { clusters, users } = JSON.parse(kubeconfig);
  const server = new URL(clusters[0].cluster.server);
  const pem = (base64: string) => Buffer.from(base64, 'base64');
  const agent = new Agent({
    ...{ keepAlive: true, maxSockets: connections },
    ca: pem(clusters[0].cluster['certificate-authority-data']),
    cert: pem(users[0].user['client-certificate-data']),
    key: pem(users[0].user['client-key-data']),
  });
  const ask = (method: string, path: string, type?: string, body?: string): Promise<string> => {
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const headers = {
      accept: METADATA,
      ...(body === undefined ? {} : { 'content-type': type, 'content-length': Buffer.byteLength(body) }),
    };
    const place = { host: server.hostname, port: server.port, path, method, agent, headers };
    const sent = request(place, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        if ((answer.statusCode ?? 0) < 300) resolve(text);
        else reject(new Error(`${method} ${path}: ${answer.statusCode} ${text}`));
      });
    });
    sent.on('error', reject).end(body);
    return promise;
  };
  const drop = (path: string, preconditions: object) => {
    const options = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background', preconditions };
    return ask('DELETE', path, 'application/json', JSON.stringify(options));
  };
  return {
    apply: async ({ path, manifest }) => {
      const query = '?fieldManager=bench&force=true';
      await ask('PATCH', `${path}${query}`, 'application/apply-patch+yaml', JSON.stringify(manifest));
    },
    remove: async ({ path }) => {
      const { uid, resourceVersion } = JSON.parse(await ask('GET', path)).metadata;
      await drop(path, { uid, resourceVersion });
    },
    drop: async ({ path }) => void (await drop(path, {})),
    close: () => agent.destroy(),
  };
}
