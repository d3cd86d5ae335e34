import type { ApiClient, ApiRequest } from './api-client.ts';

/** Sends a form of `metadata` (JSON) and `file`. Returns the parsed answer. Throws a `CliFailure` for a refusal. */
export async function sendForm<T>(
  api: ApiClient,
  request: Pick<ApiRequest, 'method' | 'path'>,
  metadata: object,
  file: Uint8Array,
): Promise<T> {
  const form = new FormData();
  form.set('metadata', JSON.stringify(metadata));
  form.set('file', new Blob([new Uint8Array(file)]), 'file');
  const encoded = new Response(form);
  const headers = { 'content-type': encoded.headers.get('content-type') ?? '' };
  const answer = await api.open(request, { headers, timeout: 60, ...(encoded.body ? { stream: encoded.body } : {}) });
  return (await answer.json()) as T;
}
