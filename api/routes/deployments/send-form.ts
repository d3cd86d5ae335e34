import type { FastifyReply } from 'fastify';

/** Sends a record and its file as a form of `metadata` and `file`. */
export async function sendForm(reply: FastifyReply, metadata: object, file: Buffer): Promise<FastifyReply> {
  const form = new FormData();
  form.set('metadata', JSON.stringify(metadata));
  form.set('file', new Blob([new Uint8Array(file)], { type: 'application/octet-stream' }), 'file');
  const encoded = new Response(form);
  reply.header('content-type', encoded.headers.get('content-type') ?? 'multipart/form-data');
  return reply.send(Buffer.from(await encoded.arrayBuffer()));
}
