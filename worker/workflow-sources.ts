import { join } from 'node:path';

/** What the bundle of the workflows is made of, besides interceptors that only some workers have. */
export function workflowSources() {
  const path = (...names: string[]) => join(import.meta.dirname, '..', 'workflows', ...names);
  return {
    workflowsPath: path('index.ts'),
    payloadConverterPath: path('engine', 'converters.ts'),
    failureConverterPath: path('engine', 'converters.ts'),
    workflowInterceptorModules: [path('engine', 'sealed-workflows.ts'), path('engine', 'cancelled-workflows.ts')],
  };
}
