/** What this process alone knows: the requests it answered, and itself. Counted from the first time somebody asks. */
import { collectDefaultMetrics, Histogram, type Registry } from 'prom-client';

/** Takes in an answered request: method, pattern of the route, status, seconds. */
export type CountRequest = (method: string, route: string, status: number, seconds: number) => void;

/** Adds these metrics to a registry. */
export function processMetrics(registry: Registry): CountRequest {
  collectDefaultMetrics({ register: registry });
  const requests = new Histogram({
    name: 'muster_http_request_seconds',
    help: 'Time from a request to its answer',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [registry],
  });
  return (method, route, status, seconds) => requests.observe({ method, route, status: String(status) }, seconds);
}
