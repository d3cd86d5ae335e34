/** An image service that behaves as its contract says (cfs-flows 7), in memory, with the troubles that tests want. */
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { openRequestGate, type RequestGate } from '../fakes/held-requests.ts';
import { freePort } from '../free-port.ts';

export interface FakeImageJob {
  id: string;
  created: string;
  job_type: string;
  image_root_archive_name: string;
  artifact_id: string;
  public_key_id: string;
  ssh_containers: {
    name: string;
    jail: boolean;
    status: string;
    connection_info: Record<string, { host: string; port: number }>;
  }[];
  require_dkms: boolean;
  status: string;
  /** What it waits for, where a service says so. */
  message?: string;
  resultant_image_id: string | null;
}

/** What goes wrong with a request: its answer is lost after it was done, it is answered with a status, or not at all. */
export type Trouble = { kind: 'lost' } | { kind: 'status'; status: number } | { kind: 'silent' };

/** A request; `body` is its text. */
export interface ImageRequest {
  method: string;
  path: string;
  body: string;
}

export interface FakeImageService {
  url: string;
  images: Map<string, { id: string; name: string }>;
  keys: Map<string, { id: string; name: string; public_key: string }>;
  jobs: Map<string, FakeImageJob>;
  /** Jobs that were deleted. */
  deleted: string[];
  /** Method and path of each request, in order. */
  requests: string[];
  addImage(name: string, id?: string): string;
  /** Where the shells of a new job are; default: nowhere that answers. */
  shellOf: (imageId: string, publicKey: string) => Promise<{ host: string; port: number }>;
  /** What a job does once it is made; default: waits for its user at once. */
  begin: (job: FakeImageJob) => void;
  /** The marker was set: ends the job, with a new image or without. */
  complete(job: FakeImageJob): void;
  fail(job: FakeImageJob): void;
  /** What goes wrong with requests for which this answers a trouble. */
  trouble: (method: string, path: string) => Trouble | null;
  /** Where single requests can be kept back. */
  gate: RequestGate<ImageRequest>;
  token: string | null;
  /** Stops listening, as a service that goes away; `start` brings it back on the same port. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

export async function startImageService(): Promise<FakeImageService> {
  // It may come back at the port that it had.
  const port = await freePort();
  const service: FakeImageService = {
    url: `http://127.0.0.1:${port}`,
    images: new Map(),
    keys: new Map(),
    jobs: new Map(),
    deleted: [],
    requests: [],
    addImage: (name, id = randomUUID()) => {
      service.images.set(id, { id, name });
      return id;
    },
    shellOf: async () => ({ host: '127.0.0.1', port: 9 }),
    begin: (job) => {
      job.status = 'waiting_on_user';
    },
    complete: (job) => {
      job.status = 'success';
      job.resultant_image_id = service.addImage(job.image_root_archive_name);
    },
    fail: (job) => {
      job.status = 'error';
    },
    trouble: () => null,
    gate: openRequestGate(),
    token: null,
    stop: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
    start: async () => {
      server = createServer((request, response) => {
        // A client that is killed in the middle of its request.
        serve(service, request, response).catch(() => response.destroy());
      });
      await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    },
    close: async () => {
      if (server.listening) await service.stop();
    },
  };
  let server = createServer();
  await service.start();
  return service;
}

type Answer = { status: number; body?: unknown };

async function serve(service: FakeImageService, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const method = request.method ?? '';
  const path = (request.url ?? '').replace(/^\/v2/, '');
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const whole: ImageRequest = { method, path, body: Buffer.concat(chunks).toString() };
  service.requests.push(`${method} ${path}`);
  if (!(await service.gate.pass('before', whole, response))) return;
  const trouble = service.trouble(method, path);
  if (trouble?.kind === 'silent') return;
  let answer: Answer;
  if (trouble?.kind === 'status') answer = problem(trouble.status, 'Trouble', 'as the test wants it');
  else if (service.token !== null && request.headers.authorization !== `Bearer ${service.token}`) {
    answer = problem(401, 'Unauthorized', 'a token is needed');
  } else answer = await answerOf(service, whole);
  if (!(await service.gate.pass('after', whole, response))) return;
  if (trouble?.kind === 'lost') {
    response.destroy();
    return;
  }
  const isProblem = answer.status >= 400;
  response.writeHead(answer.status, {
    'content-type': isProblem ? 'application/problem+json' : 'application/json',
  });
  response.end(answer.body === undefined ? '' : JSON.stringify(answer.body));
}

async function answerOf(service: FakeImageService, { method, path, body: text }: ImageRequest): Promise<Answer> {
  const [, kind = '', id] = path.split('/').map(decodeURIComponent);
  const records: Record<string, Map<string, object>> = {
    images: service.images,
    'public-keys': service.keys,
    jobs: service.jobs,
  };
  const found = records[kind];
  if (found === undefined) return problem(404, 'Not Found', `no page ${path}`);
  if (id !== undefined) {
    const record = found.get(id);
    if (record === undefined) return problem(404, 'Not Found', `no ${kind} ${id}`);
    if (method === 'GET') return { status: 200, body: record };
    if (method !== 'DELETE') return problem(405, 'Method Not Allowed', method);
    found.delete(id);
    if (kind === 'jobs') service.deleted.push(id);
    return { status: 204 };
  }
  if (method === 'GET') return { status: 200, body: [...found.values()] };
  if (method !== 'POST') return problem(405, 'Method Not Allowed', method);
  const body = JSON.parse(text) as Record<string, unknown>;
  if (kind === 'public-keys') {
    const key = { id: randomUUID(), name: String(body.name), public_key: String(body.public_key) };
    service.keys.set(key.id, key);
    return { status: 201, body: key };
  }
  return kind === 'jobs' ? createJob(service, body) : problem(405, 'Method Not Allowed', method);
}

const JOB_MEMBERS = [
  'job_type',
  'image_root_archive_name',
  'artifact_id',
  'public_key_id',
  'ssh_containers',
  'require_dkms',
];

async function createJob(service: FakeImageService, body: Record<string, unknown>): Promise<Answer> {
  const unknown = Object.keys(body).filter((member) => !JOB_MEMBERS.includes(member));
  if (unknown.length > 0) return problem(422, 'Unprocessable Entity', `unknown field ${unknown.join(', ')}`);
  const image = service.images.get(String(body.artifact_id));
  const key = service.keys.get(String(body.public_key_id));
  if (image === undefined) return problem(400, 'Bad Request', `no image ${body.artifact_id}`);
  if (key === undefined) return problem(400, 'Bad Request', `no public key ${body.public_key_id}`);
  const shell = await service.shellOf(image.id, key.public_key);
  const [container] = body.ssh_containers as { name: string; jail: boolean }[];
  const job: FakeImageJob = {
    id: randomUUID(),
    created: new Date().toISOString(),
    job_type: String(body.job_type),
    image_root_archive_name: String(body.image_root_archive_name),
    artifact_id: image.id,
    public_key_id: key.id,
    ssh_containers: [
      {
        name: container?.name ?? 'customize',
        jail: container?.jail ?? false,
        status: 'pending',
        connection_info: { 'cluster.local': shell, customer_access: shell },
      },
    ],
    require_dkms: body.require_dkms === true,
    status: 'creating',
    resultant_image_id: null,
  };
  service.jobs.set(job.id, job);
  const made = structuredClone(job);
  service.begin(job);
  return { status: 201, body: made };
}

function problem(status: number, title: string, detail: string): Answer {
  return { status, body: { type: 'about:blank', title, status, detail } };
}
