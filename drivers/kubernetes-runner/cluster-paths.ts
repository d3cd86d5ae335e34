/** Addresses of the objects of one namespace; a name is one part of them, whatever it is made of. */
export interface ClusterPaths {
  jobs: string;
  job(name: string): string;
  pods: string;
  pod(name: string): string;
  log(pod: string): string;
  events: string;
  secrets: string;
  secret(name: string): string;
}

export const NODES = '/api/v1/nodes';

export function clusterPaths(namespace: string): ClusterPaths {
  const core = `/api/v1/namespaces/${namespace}`;
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  return {
    jobs,
    job: (name) => `${jobs}/${encodeURIComponent(name)}`,
    pods: `${core}/pods`,
    pod: (name) => `${core}/pods/${encodeURIComponent(name)}`,
    log: (pod) => `${core}/pods/${encodeURIComponent(pod)}/log`,
    events: `${core}/events`,
    secrets: `${core}/secrets`,
    secret: (name) => `${core}/secrets/${encodeURIComponent(name)}`,
  };
}
