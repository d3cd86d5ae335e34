/** The settings of sessions that run as Jobs of a Kubernetes cluster. */
import { z } from 'zod';
import { flag } from './variable-forms.ts';

const base = z.url({ protocol: /^https?$/ });
const withoutSlash = (value: string) => value.replace(/\/+$/, '');
const url = base.transform(withoutSlash).optional();
/** Paths are put after it, and whoever may read Jobs sees it. */
const plainUrl = base
  .regex(/^[^?#@]*$/, 'must be a base URL, without user, ? and #')
  .transform(withoutSlash)
  .optional();
const seconds = z.coerce.number().int().min(1).max(2_592_000);

/** A variable that holds JSON of one shape. */
function json<T extends z.ZodType>(shape: T) {
  return z.string().transform((text, context): z.output<T> => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      context.addIssue({ code: 'custom', message: 'must be JSON' });
      return z.NEVER;
    }
    const parsed = shape.safeParse(value);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    context.addIssue({ code: 'custom', message: `${issue?.path.join('.') || 'value'}: ${issue?.message}` });
    return z.NEVER;
  });
}

/** As Kubernetes takes it: `500m`, `4Gi`, `1e3`; none below zero. */
const quantity = z
  .string()
  .regex(
    /^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+|[numkMGTPE]|[KMGTPE]i)?$/,
    'must be a quantity, such as 500m or 4Gi',
  );
const quantities = z.record(z.string(), quantity);
const tolerations = z.array(
  z.strictObject({
    key: z.string().optional(),
    operator: z.enum(['Exists', 'Equal']).optional(),
    value: z.string().optional(),
    effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional(),
    tolerationSeconds: z.int().optional(),
  }),
);

export const RUNNER_VARIABLES = {
  /** Where sessions run that do not say so themselves. */
  MUSTER_RUNNER: z.enum(['local', 'kubernetes']).default('local'),
  /** Namespace of the Jobs. */
  MUSTER_RUNNER_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a namespace')
    .default('muster'),
  /** Kubeconfig of the cluster. Default: KUBECONFIG, `~/.kube/config`, then the service account of the pod. */
  MUSTER_RUNNER_KUBECONFIG: z.string().min(1).optional(),
  /** `restricted`: Muster's own images, without rights; `compatible`: a runner image made for CFS. */
  MUSTER_RUNNER_PROFILE: z.enum(['restricted', 'compatible']).default('restricted'),
  /** Image that runs Ansible; with it set, a worker runs Jobs too. */
  MUSTER_RUNNER_AEE_IMAGE: z.string().min(1).optional(),
  /** Image of the steps before and after. */
  MUSTER_RUNNER_UTIL_IMAGE: z.string().min(1).optional(),
  MUSTER_RUNNER_PULL_POLICY: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent'),
  /** Requests and limits of the container that runs Ansible, none requested beyond its limit; CFS's own figures. */
  MUSTER_RUNNER_REQUESTS: json(quantities).default({ memory: '4Gi', cpu: '500m' }),
  MUSTER_RUNNER_LIMITS: json(quantities).default({ memory: '6Gi', cpu: '8' }),
  /** Labels of the nodes that may run Jobs, and taints that these tolerate. */
  MUSTER_RUNNER_NODE_SELECTOR: json(z.record(z.string(), z.string())).default({}),
  MUSTER_RUNNER_TOLERATIONS: json(tolerations).default([]),
  /** Service account of the pods, whose token only profile `compatible` gets. Default: the namespace's, without a token. */
  MUSTER_RUNNER_SERVICE_ACCOUNT: z.string().min(1).optional(),
  /** Base URL at which pods reach the ingest port. */
  MUSTER_RUNNER_INGEST_URL: plainUrl,
  /** Base URL of the API for runner images that record components themselves (profile `compatible`). */
  MUSTER_RUNNER_API_URL: url,
  /** Whether containers wait for a service mesh's proxy before they begin. */
  MUSTER_RUNNER_SIDECAR_WAIT: flag.default(false),
  /** Room for repositories and inventory of one session, and where: the node's disk, or its memory. */
  MUSTER_RUNNER_WORKSPACE_SIZE: quantity.default('4Gi'),
  MUSTER_RUNNER_WORKSPACE_MEDIUM: z.enum(['', 'Memory']).default(''),
  /** How long a Job may wait for free cpu or memory, or for its containers to begin, seconds. */
  MUSTER_RUNNER_WAIT: seconds.default(1_800),
  /** How long one may wait that no node can ever run, or whose image or settings are wrong, seconds. */
  MUSTER_RUNNER_IMPOSSIBLE: seconds.default(120),
};

/** What of these settings is missing for Jobs to run, by variable. */
export function runnerMistakes(env: {
  MUSTER_RUNNER: 'local' | 'kubernetes';
  MUSTER_RUNNER_PROFILE: 'restricted' | 'compatible';
  MUSTER_RUNNER_AEE_IMAGE?: string | undefined;
  MUSTER_RUNNER_UTIL_IMAGE?: string | undefined;
  MUSTER_RUNNER_INGEST_URL?: string | undefined;
  MUSTER_RUNNER_API_URL?: string | undefined;
}): [string, string][] {
  const wanted = env.MUSTER_RUNNER === 'kubernetes' || env.MUSTER_RUNNER_AEE_IMAGE !== undefined;
  if (!wanted) return [];
  const needed: (keyof typeof env)[] = [
    'MUSTER_RUNNER_AEE_IMAGE',
    'MUSTER_RUNNER_UTIL_IMAGE',
    'MUSTER_RUNNER_INGEST_URL',
    ...(env.MUSTER_RUNNER_PROFILE === 'compatible' ? (['MUSTER_RUNNER_API_URL'] as const) : []),
  ];
  return needed.flatMap((name): [string, string][] =>
    env[name] === undefined ? [[name, 'is needed for sessions that run as Kubernetes Jobs']] : [],
  );
}
