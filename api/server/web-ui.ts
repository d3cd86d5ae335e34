import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { musterError } from '../../domain/errors.ts';
import type { ApiShared } from '../shared/api-shared.ts';
import type { ApiServer } from './api-server.ts';

const OPEN = { schema: { hide: true }, config: { access: 'public', class: 'free' } } as const;

/** The page loads from this API alone, runs no text as code, and cannot be framed. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types muster-worker',
].join('; ');

const HEADERS = {
  'content-security-policy': POLICY,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** What a person sees who comes before there is a build. */
const NOT_BUILT =
  'The web UI is not built yet. Where the stack starts it is built now; else `npm run build:web` builds it.\n';
const NOT_YET = {
  'content-type': 'text/plain; charset=utf-8',
  'retry-after': '5',
  'cache-control': 'no-store',
} as const;

/** Names of assets have a hash of their content. */
const FOREVER = 'public, max-age=31536000, immutable';
const ASSET = /^[A-Za-z0-9._-]+$/;

export type WebUiSettings = Pick<ApiShared, 'webFiles'> & { publicUrl: string };

/** The web UI below `/ui/`. Every path there is the one page, which looks at the path itself; assets are files. */
export function webUi(app: ApiServer, { webFiles, publicUrl }: WebUiSettings): void {
  const base = `${new URL(publicUrl).pathname.replace(/\/$/, '')}/ui/`;
  const indexes = new Map<string, Promise<Index>>();
  const sendIndex = async (request: FastifyRequest, reply: FastifyReply) => {
    const folder = webFiles();
    if (folder === null) return reply.code(503).headers(NOT_YET).send(NOT_BUILT);
    const index = await (indexes.get(folder) ?? remember(indexes, folder, readIndex(folder, base)));
    reply.headers({ etag: index.etag, 'cache-control': 'no-cache' });
    if (request.headers['if-none-match'] === index.etag) return reply.code(304).send();
    return reply.type('text/html; charset=utf-8').send(index.text);
  };
  app.register(async (scope: ApiServer) => {
    scope.addHook('onSend', async (_request, reply) => void reply.headers(HEADERS));
    scope.register(fastifyStatic, {
      root: import.meta.dirname,
      serve: false,
      preCompressed: true,
      cacheControl: false,
    });
    scope.get('/ui', OPEN, async (_request, reply) => reply.redirect('ui/', 308));
    scope.get('/ui/', OPEN, sendIndex);
    scope.get('/ui/*', OPEN, sendIndex);
    // The framework takes an empty rest of a path for no record at all, which needs a token.
    scope.get('/ui/assets/', OPEN, async () => {
      throw noAsset('');
    });
    scope.get('/ui/assets/*', OPEN, async (request, reply) => {
      const { '*': name = '' } = request.params as { '*'?: string };
      const folder = webFiles();
      const assets = join(folder ?? '', 'assets');
      // That a file is missing must not be kept for ever.
      if (folder === null || !ASSET.test(name) || !existsSync(join(assets, name))) throw noAsset(name);
      reply.header('cache-control', FOREVER);
      return reply.sendFile(name, assets);
    });
  });
}

/** A page of an older build may ask for it: its files are gone. */
function noAsset(name: string) {
  return musterError('not_found', `The web UI has no file '${name.slice(0, 200)}'`);
}

interface Index {
  text: string;
  etag: string;
}

function remember(indexes: Map<string, Promise<Index>>, folder: string, reading: Promise<Index>): Promise<Index> {
  indexes.set(folder, reading);
  reading.catch(() => indexes.delete(folder));
  return reading;
}

/** The build names its files relative to the page; a page of a deeper path needs the whole way. */
async function readIndex(folder: string, base: string): Promise<Index> {
  const built = await readFile(join(folder, 'index.html'), 'utf8');
  const text = built.replace(
    /\b(href|src)="\.\//g,
    (_, attribute: string) => `${attribute}="${base.replaceAll('"', '%22')}`,
  );
  return { text, etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}
