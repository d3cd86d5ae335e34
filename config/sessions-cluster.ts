/** The settings of sessions that run as Jobs of a Kubernetes cluster. */
import { z } from 'zod';
import { flag } from './forms.ts';

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

const JOB_SETTINGS = {
  MUSTER_RUNNER: z
    .enum(['local', 'kubernetes'])
    .default('local')
    .meta({
      description:
        'Where a session runs that does not say so itself. `local`: on the machine of the worker. `kubernetes`: ' +
        'as Jobs of a cluster.',
      change: 'Set `kubernetes` when sessions should run in pods.',
    }),
  MUSTER_RUNNER_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, 'must be the name of a namespace')
    .default('muster')
    .meta({
      description: 'Namespace of the Jobs.',
      change: 'Set it to the namespace that has the rights.',
    }),
  MUSTER_RUNNER_KUBECONFIG: z.string().min(1).optional().meta({
    description: 'Kubeconfig of the cluster.',
    fallback: '`KUBECONFIG`, `~/.kube/config`, then the service account of the pod',
    change: 'Set it when the cluster of the Jobs is another one.',
    path: true,
  }),
  MUSTER_RUNNER_PROFILE: z.enum(['restricted', 'compatible']).default('restricted').meta({
    description: "`restricted`: Muster's own images, without rights. `compatible`: a runner image made for CFS.",
    change: 'Set `compatible` for a runner image of the site that was made for CFS.',
  }),
  MUSTER_RUNNER_AEE_IMAGE: z.string().min(1).optional().meta({
    description: 'Container image that runs Ansible. With it a worker runs Jobs too.',
    change: 'Jobs need it.',
  }),
  MUSTER_RUNNER_UTIL_IMAGE: z.string().min(1).optional().meta({
    description: 'Container image of the steps before and after Ansible.',
    change: 'Jobs need it.',
  }),
  MUSTER_RUNNER_PULL_POLICY: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent').meta({
    description: 'When the cluster pulls the container images of Jobs: `Always`, `IfNotPresent` or `Never`.',
    change: 'Set `Always` for tags that move.',
  }),
  MUSTER_RUNNER_REQUESTS: json(quantities)
    .default({ memory: '4Gi', cpu: '500m' })
    .meta({
      description:
        'Requests of the container that runs Ansible, as JSON. No request may exceed its limit. The default is ' +
        'that of CFS.',
      change: 'Set it by the size of playbooks and inventories.',
    }),
  MUSTER_RUNNER_LIMITS: json(quantities).default({ memory: '6Gi', cpu: '8' }).meta({
    description: 'Limits of the container that runs Ansible, as JSON. The default is that of CFS.',
    change: 'Set it by the size of playbooks and inventories.',
  }),
  MUSTER_RUNNER_NODE_SELECTOR: json(z.record(z.string(), z.string())).default({}).meta({
    description: 'Labels of the nodes that may run Jobs, as JSON.',
    change: 'Set it when only certain nodes reach the hosts.',
  }),
  MUSTER_RUNNER_TOLERATIONS: json(tolerations).default([]).meta({
    description: 'Taints that Jobs tolerate, as JSON.',
    change: 'Set it when the nodes for Jobs have taints.',
  }),
  MUSTER_RUNNER_SERVICE_ACCOUNT: z.string().min(1).optional().meta({
    description: 'Service account of the pods. Only profile `compatible` gets its token.',
    fallback: "the namespace's, without a token",
    change: 'Set it when a runner image asks the cluster for something.',
  }),
  MUSTER_RUNNER_INGEST_URL: plainUrl.meta({
    description: 'Base URL at which pods reach the ingest port.',
    change: 'Jobs need it.',
  }),
  MUSTER_RUNNER_API_URL: url.meta({
    description: 'Base URL of the API for runner images that record components themselves.',
    change: 'Profile `compatible` needs it.',
  }),
  MUSTER_RUNNER_SIDECAR_WAIT: flag.default(false).meta({
    description: "Whether containers wait for a service mesh's proxy before they begin.",
    change: 'Set `1` where a mesh puts a proxy into pods.',
  }),
  MUSTER_RUNNER_WORKSPACE_SIZE: quantity.default('4Gi').meta({
    description:
      'Size of the workspace, which holds repositories and inventory of one session, as a quantity of Kubernetes.',
    change: 'Raise it for large repositories.',
  }),
  MUSTER_RUNNER_WORKSPACE_MEDIUM: z.enum(['', 'Memory']).default('').meta({
    description: "Where the workspace of a session is: empty for the node's disk, `Memory` for its memory.",
    change: "Set `Memory` when content must not reach the node's disk.",
  }),
  MUSTER_RUNNER_WAIT: seconds.default(1_800).meta({
    description: 'How long a Job may wait for free cpu or memory, or for its containers to begin.',
    unit: 's',
    change: 'Raise it when the cluster is full for longer.',
  }),
  MUSTER_RUNNER_IMPOSSIBLE: seconds.default(120).meta({
    description: 'How long a Job may wait that can never run: no node fits, or its image or settings are wrong.',
    unit: 's',
    change: 'Raise it when nodes are added on demand.',
  }),
};

/** What of these settings is missing for Jobs to run, by variable. */
function runnerMistakes(env: {
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

export const sessionJobs = { settings: JOB_SETTINGS, mistakes: runnerMistakes };
