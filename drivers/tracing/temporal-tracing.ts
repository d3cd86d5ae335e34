/** What carries a trace through Temporal: from the client into the workflow, and on into its activities. */
import { createRequire } from 'node:module';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
  OpenTelemetryWorkflowClientInterceptor,
} from '@temporalio/interceptors-opentelemetry';
import type { WorkerInterceptors, WorkerOptions } from '@temporalio/worker';
import type { Tracing } from './open-tracing.ts';

/** Module that the bundle of a traced worker's workflows has in it. */
export const WORKFLOW_INTERCEPTORS = createRequire(import.meta.url).resolve(
  '@temporalio/interceptors-opentelemetry/lib/workflow-interceptors',
);

/** For a client: what it starts belongs to the trace in which it is done. */
export function clientInterceptors() {
  return { workflow: [new OpenTelemetryWorkflowClientInterceptor()] };
}

/** For a worker: spans of workflows and of activities. */
export function workerTracing({ processor, resource }: Tracing): {
  activity: NonNullable<WorkerInterceptors['activity']>;
  sinks: NonNullable<WorkerOptions['sinks']>;
} {
  return {
    activity: [(ctx) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(ctx) })],
    sinks: { exporter: makeWorkflowExporter(processor, resource) },
  };
}
