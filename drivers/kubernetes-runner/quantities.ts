const FACTORS: Record<string, number> = {
  n: 1e-9,
  u: 1e-6,
  m: 1e-3,
  '': 1,
  k: 1e3,
  M: 1e6,
  G: 1e9,
  T: 1e12,
  P: 1e15,
  E: 1e18,
  Ki: 2 ** 10,
  Mi: 2 ** 20,
  Gi: 2 ** 30,
  Ti: 2 ** 40,
  Pi: 2 ** 50,
  Ei: 2 ** 60,
};

/** Of which resource more is requested than its limit allows, each as a sentence: Kubernetes refuses such a pod. */
export function excessRequests(requests: Record<string, string>, limits: Record<string, string>): string[] {
  return Object.entries(requests).flatMap(([resource, requested]) => {
    const limit = limits[resource];
    if (limit === undefined || quantity(requested) <= quantity(limit)) return [];
    return [`${resource}: ${requested} is more than the limit, ${limit}`];
  });
}

/** A quantity of Kubernetes (`500m`, `4Gi`, `1e3`) as a number of cores or bytes; NaN for what is none. */
export function quantity(text: string): number {
  const [, digits, exponent, unit] =
    /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|([numkMGTPE]|[KMGTPE]i)?)$/.exec(text) ?? [];
  if (digits === undefined) return Number.NaN;
  return Number(`${digits}${exponent ?? ''}`) * (FACTORS[unit ?? ''] ?? Number.NaN);
}
