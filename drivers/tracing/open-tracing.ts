/** OpenTelemetry: spans from a request to the activities that it caused, sent to a collector by OTLP over HTTP. */
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { Resource } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, type SpanProcessor } from '@opentelemetry/sdk-trace-base';

/** A request as it is traced. */
export interface RequestSpan {
  /** What joins later work to it: W3C's `traceparent`. */
  trace: string;
  end(route: string, status: number): void;
}

export interface Tracing {
  /** Begins the span of a request; `parent` is the `traceparent` that came with it. */
  beginRequest(method: string, parent: string | undefined): RequestSpan;
  /** Does work as part of a trace; null: of none. */
  within<T>(trace: string | null, work: () => Promise<T>): Promise<T>;
  resource: Resource;
  processor: SpanProcessor;
  /** Sends what has not been sent; gives up after 3 s. */
  close(): Promise<void>;
}

const FLUSH_MS = 3_000;

/**
 * Turns tracing on for this process. `url` is the base of a collector (`http://collector:4318`); one that does not answer
 * loses spans and nothing else. Names and ids only: no bodies, queries, arguments or results go into a span.
 */
export function openTracing({ url, service, version }: Record<'url' | 'service' | 'version', string>): Tracing {
  const resource = new Resource({ 'service.name': service, 'service.version': version });
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces`, timeoutMillis: FLUSH_MS });
  const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: 1_000 });
  const provider = new BasicTracerProvider({ resource, spanProcessors: [processor] });
  provider.register({
    contextManager: new AsyncLocalStorageContextManager(),
    propagator: new W3CTraceContextPropagator(),
  });
  const tracer = trace.getTracer('muster', version);
  const contextOf = (traceparent: string | null | undefined) =>
    traceparent ? propagation.extract(ROOT_CONTEXT, { traceparent }) : ROOT_CONTEXT;
  return {
    resource,
    processor,
    beginRequest: (method, parent) => {
      const span = tracer.startSpan(method, { kind: SpanKind.SERVER }, contextOf(parent));
      const carrier: { traceparent?: string } = {};
      propagation.inject(trace.setSpan(ROOT_CONTEXT, span), carrier);
      return {
        trace: carrier.traceparent ?? '',
        end: (route, status) => {
          span.updateName(`${method} ${route}`);
          span.setAttributes({
            'http.request.method': method,
            'http.route': route,
            'http.response.status_code': status,
          });
          if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
          span.end();
        },
      };
    },
    within: (traceparent, work) => context.with(contextOf(traceparent), work),
    close: async () => {
      const late = new Promise<void>((resolve) => setTimeout(resolve, FLUSH_MS).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
    },
  };
}
