import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openProxy, type TcpProxy } from '../fakes/tcp-proxy.ts';
import {
  type FakeImageJob,
  type FakeImageService,
  type ImageRequest,
  startImageService,
} from '../images/image-service-server.ts';
import { serveImageShells } from '../images/image-shells.ts';
import { hostAddress } from './dev-cluster.ts';

/** A stand-in image service whose shells are real logins that pods reach too. */
export interface ImagesForPods {
  /** Base URL for Muster. */
  url: string;
  service: FakeImageService;
  /** What a session gives as its target to customise a new image, which has the session's name. */
  targetOf(session: string): object;
  /** Name of the session that a request is for; null when it does not say. */
  sessionOf(request: ImageRequest): string | null;
  jobsOf(session: string): FakeImageJob[];
  /** How many public keys of the session there are. */
  keysOf(session: string): number;
  /** Names of the images that came of the session's. */
  resultsOf(session: string): string[];
  /** Text of a file in /tmp of the session's image, '' when there is none. */
  fileOf(session: string, name: string): Promise<string>;
  close(): Promise<void>;
}

/** Starts it. */
export async function serveImagesForPods(): Promise<ImagesForPods> {
  const dir = await mkdtemp(join(tmpdir(), 'muster-pod-images-'));
  const service = await startImageService();
  const shells = serveImageShells(service, dir);
  const ways: TcpProxy[] = [];
  const here = service.shellOf;
  service.shellOf = async (imageId, publicKey) => {
    const { host, port } = await here(imageId, publicKey);
    const way = await openProxy(`${host}:${port}`, hostAddress());
    ways.push(way);
    return { host: hostAddress(), port: Number(way.address.split(':')[1]) };
  };
  const imageOf = new Map<string, string>();
  /** Session of each job and key that was ever seen, by id. */
  const owners = new Map<string, string>();
  const sessionOfKey = (name: string) => name.replace(/^cfs_/, '');
  const learn = () => {
    for (const { id, name } of service.keys.values()) owners.set(id, sessionOfKey(name));
    for (const { id, ssh_containers } of service.jobs.values()) owners.set(id, ssh_containers[0]?.name ?? '');
  };
  return {
    url: `${service.url}/v2`,
    service,
    targetOf(session) {
      const id = service.addImage(session);
      imageOf.set(session, id);
      return { target: { definition: 'image', groups: [{ name: 'Compute', members: [id] }], image_map: [] } };
    },
    sessionOf({ method, path, body }) {
      learn();
      const [, , id] = path.split('/');
      if (id !== undefined) return owners.get(id) ?? null;
      if (method !== 'POST') return null;
      const asked = JSON.parse(body);
      return path === '/jobs' ? (asked.ssh_containers[0]?.name ?? null) : sessionOfKey(String(asked.name));
    },
    jobsOf: (session) => [...service.jobs.values()].filter((job) => job.ssh_containers[0]?.name === session),
    keysOf: (session) => [...service.keys.values()].filter(({ name }) => sessionOfKey(name) === session).length,
    resultsOf: (session) =>
      [...service.images.values()].map(({ name }) => name).filter((name) => name.startsWith(`${session}_`)),
    fileOf: (session, name) => readFile(join(shells.tmpOf(imageOf.get(session) ?? ''), name), 'utf8').catch(() => ''),
    async close() {
      await Promise.all(ways.map((way) => way.cut()));
      await shells.stop();
      await service.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
