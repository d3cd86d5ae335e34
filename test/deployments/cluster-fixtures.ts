/** Kubeconfigs and forms as clients send them. */

/** Returns a kubeconfig with a token; no server has to be there. */
export function kubeconfigOf({
  server = 'https://127.0.0.1:1',
  token = 'hunter2',
  more = {},
}: {
  server?: string;
  token?: string;
  more?: object;
} = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'main',
    contexts: [{ name: 'main', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server } }],
    users: [{ name: 'u', user: { token, ...more } }],
  });
}

const BOUNDARY = 'between-the-parts';
export const FORM_HEADERS = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` };

/** Returns a form as Go's clients write it: the JSON part has no type of its own. */
export function formOf(metadata: unknown, file: string, { reversed = false } = {}): string {
  const parts = [
    `Content-Disposition: form-data; name="metadata"\r\n\r\n${typeof metadata === 'string' ? metadata : JSON.stringify(metadata)}`,
    `Content-Disposition: form-data; name="file"; filename="config"\r\nContent-Type: application/octet-stream\r\n\r\n${file}`,
  ];
  if (reversed) parts.reverse();
  return `${parts.map((part) => `--${BOUNDARY}\r\n${part}\r\n`).join('')}--${BOUNDARY}--\r\n`;
}

/** Returns the form of an app: its file is no text. */
export function formOfArchive(metadata: unknown, archive: Buffer): Buffer {
  const [before = '', after = ''] = formOf(metadata, 'ARCHIVE').split('ARCHIVE');
  return Buffer.concat([Buffer.from(before), archive, Buffer.from(after)]);
}

export const named = (name: string) => ({ metadata: { name } });
