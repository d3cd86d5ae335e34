import type { ApiShared } from '../../shared/api-shared.ts';

export type ComponentApi = ReturnType<typeof componentApi>;

/** Returns what the routes of components work with. */
export function componentApi(shared: ApiShared) {
  const { publicUrl, araUrl } = shared.settings;
  return { ...shared, publicUrl, araUrl };
}
