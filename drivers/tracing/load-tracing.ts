/** Tracing with all that carries it, loaded only where it is on: its libraries cost 20 MB. */
export async function loadTracing(url: string, service: string, version: string) {
  const { openTracing } = await import('./open-tracing.ts');
  const { clientInterceptors, WORKFLOW_INTERCEPTORS, workerTracing } = await import('./temporal-tracing.ts');
  const tracing = openTracing({ url, service, version });
  return {
    ...tracing,
    clientInterceptors: clientInterceptors(),
    worker: workerTracing(tracing),
    workflowInterceptors: WORKFLOW_INTERCEPTORS,
  };
}
