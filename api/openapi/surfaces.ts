/** The documents: one a surface, and one of everything. */
export const SURFACES = ['v2', 'v3', 'muster', 'ims', 'placement'] as const;
export type Surface = (typeof SURFACES)[number];
export const DOCUMENTS = ['all', ...SURFACES] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

/** Path of a document below each prefix. */
export const DOCUMENT_PATHS: Record<DocumentName, string> = {
  all: '/openapi.json',
  v2: '/openapi/v2.json',
  v3: '/openapi/v3.json',
  muster: '/openapi/muster.json',
  ims: '/openapi/ims.json',
  placement: '/openapi/placement.json',
};

export const TITLES: Record<DocumentName, string> = {
  all: 'Muster: everything',
  v2: 'Configuration Framework Service, version 2',
  v3: 'Configuration Framework Service, version 3',
  muster: 'Muster',
  ims: 'Image service',
  placement: 'Application placement',
};

/** Belong to no version of CFS's API alone. */
const COMMON = new Set(['/', '/versions', '/healthz']);

/** Paths of EMCO's interface. */
const PLACEMENT = /^\/v2\/(?:projects|cluster-providers|controllers)(?:\/|$)/;

/** The surfaces that a path belongs to; empty for one that is in no document. */
export function surfacesOf(path: string): Surface[] {
  if (COMMON.has(path)) return ['v2', 'v3'];
  if (path.startsWith('/api/v1/')) return ['muster'];
  if (path.startsWith('/apis/ims/')) return ['ims'];
  // Before CFS's version 2, whose paths begin alike.
  if (PLACEMENT.test(path)) return ['placement'];
  return SURFACES.filter((surface) => path === `/${surface}` || path.startsWith(`/${surface}/`));
}

/** Whether a path is in a document. */
export function isInDocument(path: string, document: DocumentName): boolean {
  const surfaces = surfacesOf(path);
  return document === 'all' ? surfaces.length > 0 : surfaces.includes(document);
}

/** The path as all versions have it in common: `/components/{component_id}`. */
function pathWithoutVersion(path: string): string {
  return path.replace(/^\/(?:v2|v3|api\/v1|apis\/ims)(?=\/)/, '');
}

/**
 * Name of an operation: method, the things of the path in singular where one of them is meant, and CFS's version:
 * `put_component_v3`, `get_session_logs`. Clients are generated from it, so it never changes for a path. A route may name its operation itself (`schema.operationId`).
 */
export function operationId(method: string, path: string): string {
  const version = /^\/(?:apis\/)?(v2|v3|ims)(?=\/)/.exec(path)?.[1];
  const segments = pathWithoutVersion(path).split('/').slice(1);
  const words = segments
    .map((segment, index) => (segments[index + 1]?.startsWith('{') ? singular(segment) : segment))
    .filter((segment) => !segment.startsWith('{') && segment !== '')
    .map((segment) => segment.replaceAll('-', '_'));
  const name = words.length === 0 ? ['service'] : words;
  return [method, ...name, ...(version === undefined ? [] : [version])].join('_');
}

function singular(word: string): string {
  return word
    .replace(/ies$/, 'y')
    .replace(/(ch|sh|x)es$/, '$1')
    .replace(/s$/, '');
}
