/** Moments in the lives of sessions that run as Jobs, and what is there of a session at one. */
import { openClusterAccess } from '../../../drivers/kubernetes/cluster-access.ts';
import { createClusterClient } from '../../../drivers/kubernetes/cluster-client.ts';
import { clusterPaths } from '../../../drivers/kubernetes-runner/cluster-paths.ts';
import {
  FINALIZER,
  type JobObject,
  type ListObject,
  type Metadata,
} from '../../../drivers/kubernetes-runner/objects.ts';
import type { PlaybookJournal } from '../ansible/playbook-journal.ts';
import { eventually } from '../eventually.ts';
import type { ImageRequest } from '../images/image-service-server.ts';
import type { ClusterGate, GateRequest } from '../kubernetes/cluster-gate.ts';
import type { ClusterStack } from '../kubernetes/cluster-stack.ts';
import { kubeconfigPath } from '../kubernetes/dev-cluster.ts';
import type { ImagesForPods } from '../kubernetes/images-for-pods.ts';
import type { Moment } from '../stack/worker-kills.ts';
import type { HeldRequest, HoldWhen } from './held-requests.ts';

const MOMENT_LIMIT_MS = 240_000;
const LOOK_MS = 50;

/** What is there of a session. */
export interface Sight {
  phase: string;
  cancelAsked: boolean;
  /** What its pod was told last; null: nothing yet, or nothing ever. */
  action: 'run' | 'finish' | null;
  /** How its Job ended is stored. */
  ended: boolean;
  /** That Kubernetes may forget its Job is stored. */
  released: boolean;
  job: 'none' | 'suspended' | 'let run' | 'deleted';
  /** Muster's finalizer is on it. */
  jobKept: boolean;
  podKept: boolean;
  secret: boolean;
  /** State of its image on record. */
  image: string | null;
  keyKnown: boolean;
  imageJobKnown: boolean;
  /** At the image service. */
  keys: number;
  imageJobs: string[];
  artifacts: number;
}

/** A moment of the session with that name. */
export type MomentOf = (session: string) => Moment;

export interface SessionMoments {
  /** A request for an object of the session in the cluster: its Job, the Job's pods or Secret. */
  atCluster(
    when: HoldWhen,
    verb: string,
    kind: 'jobs' | 'pods' | 'secrets',
    more?: (request: GateRequest) => boolean,
  ): MomentOf;
  /** A request for its key or its job at the image service, while that job has this status (default: any, or none). */
  atImages(when: HoldWhen, verb: string, kind: 'public-keys' | 'jobs', status?: string): MomentOf;
  /** Its pod was told to run the playbook, which goes on after the kill. */
  told: MomentOf;
  /** Its playbook runs, and goes on after the kill. */
  playing: MomentOf;
  /** Its pod was let go; it is forgotten after the kill. */
  finishing: MomentOf;
  /** It waits after a failure. */
  holding: MomentOf;
  see(session: string): Promise<Sight>;
}

/** A strategic patch that takes Muster's finalizer away. */
export const releases = ({ body }: GateRequest): boolean =>
  body?.metadata?.['$deleteFromPrimitiveList/finalizers'] !== undefined;
/** A patch that lets a suspended Job run. */
export const letsRun = ({ body }: GateRequest): boolean => body?.spec?.suspend === false;

/** What sessions pass on their way. */
export interface PassedBySessions {
  /** The stack's way to the cluster. */
  gate: ClusterGate;
  /** Its image service. */
  images: ImagesForPods;
  /** Where its playbooks come by. */
  journal: PlaybookJournal;
}

/** Opens the view on the sessions of a stack. */
export function openSessionMoments(
  { stack, namespace }: ClusterStack,
  { gate, images, journal }: PassedBySessions,
): SessionMoments {
  const client = createClusterClient(openClusterAccess(kubeconfigPath()));
  const paths = clusterPaths(namespace.name);
  /** Names of Jobs by that of their session, as they come by. */
  const jobs = new Map<string, string>();
  let records: Promise<Recorded[]> = Promise.resolve([]);
  let lookedAt = 0;

  const isOf = (session: string, { method, path, body }: GateRequest, verb: string, kind: string): boolean => {
    if (method === 'POST' && path.endsWith('/jobs')) jobs.set(body.metadata.labels.cfsession, body.metadata.name);
    const job = jobs.get(session);
    if (method !== verb || job === undefined) return false;
    if (verb === 'POST') return path.endsWith(`/${kind}`) && body.metadata.name === job;
    return path.includes(`/${kind}/${job}`);
  };

  const held = (session: string, request: HeldRequest): Moment => {
    let there = false;
    void request.reached.then(() => {
      there = true;
    });
    const reached = eventually(`the moment of ${session} is there`, () => there, MOMENT_LIMIT_MS);
    return { reached: reached.then(() => undefined), letGo: request.letGo };
  };

  /** All sessions as they were a moment ago, for everybody who waits. */
  const look = (): Promise<Recorded[]> => {
    if (Date.now() - lookedAt > LOOK_MS) {
      lookedAt = Date.now();
      records = stack.sql(
        `select s.name, s.phase, j.order_body ->> 'action' as action
           from sessions s left join session_jobs j on j.session_id = s.id`,
      );
    }
    return records;
  };
  const recorded = (session: string, isIt: (record: Recorded) => boolean) =>
    eventually(
      `the moment of ${session} is on record`,
      async () => (await look()).some((record) => record.name === session && isIt(record)),
      MOMENT_LIMIT_MS,
    ).then(() => undefined);

  const listed = async (path: string, labelSelector: string) =>
    (await client.ask<ListObject<JobObject>>({ method: 'GET', path, query: { labelSelector } })).body.items ?? [];

  const isRelease = (session: string) => (request: GateRequest) =>
    isOf(session, request, 'PATCH', 'pods') && releases(request);
  const isDoing = (action: Sight['action']) => (record: Recorded) => record.action === action;

  return {
    atCluster:
      (when, verb, kind, more = () => true) =>
      (session) =>
        held(
          session,
          gate.hold(when, (request) => isOf(session, request, verb, kind) && more(request)),
        ),
    atImages: (when, verb, kind, status) => (session) => {
      const isIt = (request: ImageRequest) =>
        request.method === verb &&
        request.path.startsWith(`/${kind}`) &&
        images.sessionOf(request) === session &&
        (status === undefined || images.jobsOf(session).some((job) => job.status === status));
      return held(session, images.service.gate.hold(when, isIt));
    },
    told: (session) => ({ letGo: journal.keep(session), reached: recorded(session, isDoing('run')) }),
    playing: (session) => ({
      letGo: journal.keep(session),
      reached: journal.until(`start-${session}`),
    }),
    finishing: (session) => {
      const { letGo } = gate.hold('before', isRelease(session));
      return { letGo, reached: recorded(session, isDoing('finish')) };
    },
    holding: (session) => ({
      letGo: () => undefined,
      reached: recorded(session, ({ phase }) => phase === 'hold'),
    }),
    async see(session) {
      const [row] = await stack.sql<Omit<Sight, 'job' | 'jobKept' | 'podKept' | 'secret' | 'keys' | 'imageJobs'>>(
        `select s.phase, s.cancel_requested_at is not null as "cancelAsked", j.order_body ->> 'action' as action,
                j.ended_at is not null as ended, j.released_at is not null as released, i.state as image,
                i.public_key_id is not null as "keyKnown", i.job_id is not null as "imageJobKnown",
                jsonb_array_length(s.artifacts::jsonb) as artifacts
           from sessions s left join session_jobs j on j.session_id = s.id
                left join session_images i on i.session_id = s.id
          where s.name = $1`,
        [session],
      );
      if (row === undefined) throw new Error(`there is no session ${session}`);
      const own = `cfsession=${session}`;
      const [[job], pods, secrets] = await Promise.all([
        listed(paths.jobs, own),
        listed(paths.pods, own),
        listed(paths.secrets, ''),
      ]);
      const isKept = ({ metadata }: { metadata: Metadata }) => metadata.finalizers?.includes(FINALIZER) ?? false;
      return {
        ...row,
        job: stateOf(job),
        jobKept: job !== undefined && isKept(job),
        podKept: pods.some(isKept),
        secret: secrets.some(({ metadata }) => metadata.name === job?.metadata.name),
        keys: images.keysOf(session),
        imageJobs: images.jobsOf(session).map(({ status }) => status),
      };
    },
  };
}

interface Recorded {
  name: string;
  phase: string;
  action: Sight['action'];
}

function stateOf(job: JobObject | undefined): Sight['job'] {
  if (job === undefined) return 'none';
  if (job.metadata.deletionTimestamp !== undefined) return 'deleted';
  return job.spec?.suspend === true ? 'suspended' : 'let run';
}
