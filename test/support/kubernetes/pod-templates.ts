import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from './helm.ts';

/** What a field of a pod stands for in tests. */
const FIELDS: Record<string, string> = { 'status.podIP': '10.0.0.1' };

/** All that the container which works on images may do. */
const IMAGE_CAPABILITIES = [
  ...['AUDIT_WRITE', 'CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'FSETID', 'MKNOD'],
  ...['SETFCAP', 'SETGID', 'SETPCAP', 'SETUID', 'SYS_ADMIN', 'SYS_CHROOT'],
];

/** The pod of a Deployment, StatefulSet or Job, with the part of Muster that it is. */
export interface PodTemplate {
  part: string;
  pod: Manifest;
  containers: Manifest[];
}

export function podTemplates(objects: readonly Manifest[]): PodTemplate[] {
  return objects
    .filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet' || kind === 'Job')
    .map(({ spec }) => {
      const { metadata, spec: pod } = spec.template;
      const containers = [...(pod.initContainers ?? []), ...pod.containers];
      return { part: metadata.labels['app.kubernetes.io/component'], pod, containers };
    });
}

/**
 * Environment of a container as its process sees it in `namespace`; `secrets` stands for the values that come from Secrets. As
 * Kubernetes does, a `$(NAME)` becomes the value of the variable of that name if it stands before, and stays as it is if it does not.
 */
export function environmentOf(
  container: Manifest,
  secrets: Record<string, string>,
  namespace = 'muster',
): Record<string, string> {
  const fields: Record<string, string> = { ...FIELDS, 'metadata.namespace': namespace };
  const seen: Record<string, string> = {};
  for (const { name, value, valueFrom } of container.env) {
    if (valueFrom === undefined) {
      seen[name] = value?.replace(/\$\(([A-Z_]+)\)/g, (whole: string, other: string) => seen[other] ?? whole);
    } else if (valueFrom.fieldRef !== undefined) {
      seen[name] = fields[valueFrom.fieldRef.fieldPath] ?? '';
    } else {
      seen[name] = secrets[`${valueFrom.secretKeyRef.name}/${valueFrom.secretKeyRef.key}`] ?? '';
    }
  }
  return seen;
}

/**
 * What is wrong with what containers are allowed to do, as `part: sentence`; nothing where Pod Security `restricted` holds, and the
 * pod that works on images is root with its capabilities and no others.
 */
export function permissionMistakes(objects: readonly Manifest[]): string[] {
  const mistakes: string[] = [];
  for (const { part, pod, containers } of podTemplates(objects)) {
    const expect = (isRight: boolean, sentence: string) => {
      if (!isRight) mistakes.push(`${part}: ${sentence}`);
    };
    const own = pod.securityContext ?? {};
    const isForImages = part === 'images';
    const user = isForImages ? 0 : 1000;
    expect(isForImages || own.runAsNonRoot === true, 'may run as root');
    expect(own.runAsUser === user && own.runAsGroup === user, 'runs as another user');
    expect(own.seccompProfile?.type === 'RuntimeDefault', 'has no seccomp profile');
    expect(!pod.hostNetwork && !pod.hostPID && !pod.hostIPC, 'shares what is the node’s');
    for (const volume of pod.volumes ?? []) {
      const kinds = Object.keys(volume).filter((key) => key !== 'name');
      expect(
        kinds.every((kind) => ['emptyDir', 'secret', 'configMap', 'persistentVolumeClaim'].includes(kind)),
        `mounts ${kinds}`,
      );
    }
    for (const { securityContext: allowed = {}, resources = {}, env = [] } of containers) {
      expect(isForImages || allowed.allowPrivilegeEscalation === false, 'may gain rights');
      expect(allowed.readOnlyRootFilesystem === true, 'may write its root');
      const capabilities = isForImages ? { drop: ['ALL'], add: IMAGE_CAPABILITIES } : { drop: ['ALL'] };
      expect(isDeepStrictEqual(allowed.capabilities, capabilities), 'has other capabilities');
      expect(!allowed.privileged && allowed.runAsUser === undefined, 'is its own user');
      expect(resources.requests?.memory !== undefined && resources.limits?.memory !== undefined, 'has no bounds');
      const secret = env.filter(
        ({ name, value }: Manifest) => /PASSWORD|API_KEY|TOKEN$|DATABASE_URL/.test(name) && value,
      );
      expect(secret.length === 0, 'has a secret in its manifest');
    }
  }
  return mistakes;
}

/** What is wrong with rights, as `name: sentence`. */
export function rightsMistakes(objects: readonly Manifest[]): string[] {
  const mistakes: string[] = [];
  for (const { kind, metadata, rules = [] } of objects) {
    if (kind === 'ClusterRole' || kind === 'ClusterRoleBinding')
      mistakes.push(`${metadata.name}: of the whole cluster`);
    for (const { apiGroups, resources, verbs } of rules) {
      if ([apiGroups, resources, verbs].some((words) => words.includes('*'))) mistakes.push(`${metadata.name}: all of`);
      const listed = verbs.filter((verb: string) => ['list', 'watch', 'deletecollection'].includes(verb));
      if (resources.includes('secrets') && listed.length > 0) mistakes.push(`${metadata.name}: may ${listed} secrets`);
      const forbidden = ['pods/exec', 'pods/attach', 'pods/portforward', 'roles', 'rolebindings', 'serviceaccounts'];
      for (const one of resources) if (forbidden.includes(one)) mistakes.push(`${metadata.name}: ${one}`);
    }
  }
  return mistakes;
}
