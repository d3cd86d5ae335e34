import { randomBytes } from 'node:crypto';
import { eventually } from '../eventually.ts';
import type { TestNamespace } from './dev-cluster.ts';

const END_LIMIT_MS = 150_000;

export interface PodRequest {
  image: string;
  command: string[];
  environment?: Record<string, string>;
  /** Folders that can be written; nothing else can. */
  writable?: string[];
  workingDir?: string;
  /** Whose token the pod has; none without. */
  serviceAccount?: string;
}

interface PodStatus {
  status?: {
    podIP?: string;
    containerStatuses?: {
      state: { waiting?: { reason?: string; message?: string }; terminated?: { exitCode: number } };
    }[];
  };
}

export interface TestPod {
  name: string;
  /** Its address, which this machine reaches; '' until it has one. */
  address(): Promise<string>;
  log(): Promise<string>;
  /** Waits for its end; answers exit code and output. */
  end(): Promise<{ code: number; output: string }>;
}

/** Starts a pod with one container as strictly as a cluster may demand it: no root, nothing writable, no capability. */
export async function startRestrictedPod(namespace: TestNamespace, request: PodRequest): Promise<TestPod> {
  const name = `pod-${randomBytes(4).toString('hex')}`;
  const writable = request.writable ?? [];
  await namespace.apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: request.serviceAccount !== undefined,
      ...(request.serviceAccount === undefined ? {} : { serviceAccountName: request.serviceAccount }),
      enableServiceLinks: false,
      terminationGracePeriodSeconds: 2,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 1000,
        runAsGroup: 1000,
        fsGroup: 1000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'main',
          image: request.image,
          imagePullPolicy: 'Never',
          command: request.command,
          env: Object.entries(request.environment ?? {}).map(([key, value]) => ({ name: key, value })),
          ...(request.workingDir === undefined ? {} : { workingDir: request.workingDir }),
          securityContext: {
            readOnlyRootFilesystem: true,
            allowPrivilegeEscalation: false,
            capabilities: { drop: ['ALL'] },
          },
          volumeMounts: writable.map((mountPath, index) => ({ name: `folder-${index}`, mountPath })),
        },
      ],
      volumes: writable.map((_, index) => ({ name: `folder-${index}`, emptyDir: {} })),
    },
  });
  const status = async () => (await namespace.read<PodStatus>(`pods/${name}`))?.status ?? {};
  const log = () => namespace.kubectl(['logs', name]);
  return {
    name,
    address: async () => (await status()).podIP ?? '',
    log,
    end: async () => {
      const code = await eventually(
        `${name} has ended`,
        async () => {
          const { waiting, terminated } = (await status()).containerStatuses?.[0]?.state ?? {};
          // Not what a busy node says for a moment (CreateContainerError, RunContainerError).
          const refused = /Invalid|ErrImage|BackOff|ConfigError/.test(waiting?.reason ?? '');
          if (refused) throw new Error(`${waiting?.reason}: ${waiting?.message}`);
          return terminated === undefined ? null : { code: terminated.exitCode };
        },
        END_LIMIT_MS,
      );
      return { ...code, output: await log() };
    },
  };
}
