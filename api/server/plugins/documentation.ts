import { fileURLToPath } from 'node:url';
import fastifyStatic from '@fastify/static';
import { buildDocument, type DocumentSettings } from '../../openapi/build-document.ts';
import { describedRoutes } from '../../openapi/described-routes.ts';
import { DOCUMENT_PATHS, DOCUMENTS, type DocumentName } from '../../openapi/surfaces.ts';
import type { ApiServer } from '../api-server.ts';

const PAGE = fileURLToPath(new URL('../../openapi/page', import.meta.url));
const LIBRARY = fileURLToPath(new URL('static', import.meta.resolve('@fastify/swagger-ui')));
/** Files of the page by folder, so that nothing else of the folders is served. */
const PAGE_FILES = [
  [PAGE, ['index.html', 'initializer.js', 'page.css']],
  [LIBRARY, ['swagger-ui.css', 'swagger-ui-bundle.js', 'swagger-ui-standalone-preset.js', 'favicon-32x32.png']],
] as const;

/** The documents and their page are the same for everybody. */
const OPEN = { schema: { hide: true }, config: { access: 'public', class: 'list' } } as const;

/** The page loads from this API alone, and nothing of it can be framed or sent elsewhere. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * The OpenAPI documents of the declared routes (`/openapi.json`: all; `/openapi/v2.json`,
 * `/openapi/v3.json`, `/openapi/muster.json`, `/openapi/ims.json`, `/openapi/placement.json`), and an interactive page of them at `/docs`, from own files
 * only; all under every prefix.
 */
export function documentation(app: ApiServer, deps: DocumentSettings): void {
  const built = new Map<string, Buffer>();
  const documentOf = (name: DocumentName) => buildDocument(name, describedRoutes(app, deps.prefixes), deps);
  for (const prefix of deps.prefixes) {
    app.register(
      async (scope: ApiServer) => {
        for (const name of DOCUMENTS) {
          scope.get(DOCUMENT_PATHS[name], OPEN, async (_request, reply) => {
            const text = built.get(name) ?? Buffer.from(JSON.stringify(documentOf(name)));
            built.set(name, text);
            return reply.header('content-type', 'application/json').send(text);
          });
        }
        page(scope);
      },
      { prefix },
    );
  }
}

function page(scope: ApiServer): void {
  scope.addHook('onSend', async (_request, reply) => {
    reply.header('content-security-policy', POLICY).header('x-content-type-options', 'nosniff');
  });
  scope.register(fastifyStatic, { root: PAGE, serve: false });
  // The page's own links are relative, so that it works behind any prefix; they need the slash at the end.
  scope.get('/docs', OPEN, async (_request, reply) => reply.redirect('docs/', 308));
  const index = { ...OPEN, config: { ...OPEN.config, class: 'free' } } as const;
  scope.get('/docs/', index, async (_request, reply) => reply.sendFile('index.html'));
  for (const [folder, names] of PAGE_FILES) {
    for (const name of names) {
      scope.get(`/docs/${name}`, OPEN, async (_request, reply) => reply.sendFile(name, folder));
    }
  }
}
