import type { Manifest } from './helm.ts';

/** What of a pod a network policy goes by. */
export interface PodAddress {
  namespace: string;
  address: string;
  labels: Record<string, string>;
}

/**
 * What network policies mean for the pods of their namespaces, as rules for iptables-restore in chains of their own (`chain`, and two
 * more whose names begin with it). What is not allowed is refused; answers pass; what this machine sends passes, as the node's
 * probes do wherever policies are enforced. Only selectors by `matchLabels` are understood, and namespaces by their name.
 */
export function rulesOf(policies: Manifest[], pods: readonly PodAddress[], chain: string): string {
  const chains = [chain, `${chain}-O`, `${chain}-I`] as const;
  const lines = [
    `-A ${chain} -m conntrack --ctstate RELATED,ESTABLISHED -j RETURN`,
    `-A ${chain} -j ${chain}-O`,
    `-A ${chain} -j ${chain}-I`,
  ];
  const closed = new Set<string>();
  const open = (direction: 'O' | 'I', own: PodAddress, rules: Manifest[], peersIn: string) => {
    const [here, there] = direction === 'O' ? ['-s', '-d'] : ['-d', '-s'];
    closed.add(`-A ${chain}-${direction} ${here} ${own.address} -j REJECT`);
    for (const rule of rules) {
      for (const peer of peersOf(rule[peersIn], pods, own.namespace)) {
        const end = peer === null ? '' : ` ${there} ${peer}`;
        for (const { protocol, port, endPort = port } of rule.ports) {
          const to = `-p ${protocol.toLowerCase()} --dport ${port}:${endPort}`;
          lines.push(`-A ${chain}-${direction} ${here} ${own.address}${end} ${to} -j RETURN`);
        }
      }
    }
  };
  for (const { metadata, spec } of policies) {
    for (const own of pods.filter((pod) => fits(metadata.namespace, spec.podSelector, pod))) {
      open('O', own, spec.egress, 'to');
      open('I', own, spec.ingress, 'from');
    }
  }
  return ['*filter', ...chains.map((name) => `:${name} - [0:0]`), ...lines, ...closed, 'COMMIT', ''].join('\n');
}

/** Addresses of the other end; null stands for everybody. */
function peersOf(peers: Manifest[] | undefined, pods: readonly PodAddress[], namespace: string): (string | null)[] {
  if (peers === undefined) return [null];
  return peers.flatMap(({ podSelector, namespaceSelector }) => {
    const space = namespaceSelector?.matchLabels['kubernetes.io/metadata.name'] ?? namespace;
    return pods.filter((pod) => fits(space, podSelector, pod)).map(({ address }) => address);
  });
}

function fits(space: string, selector: Manifest, { namespace, labels }: PodAddress): boolean {
  return namespace === space && Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value);
}
