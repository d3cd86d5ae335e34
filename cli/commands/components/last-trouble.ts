import type { TimelineEntry } from '../../../domain/audit/schema.ts';
import { type ApiClient, segment } from '../../client/api-client.ts';
import { CliFailure } from '../../failure.ts';
import { oneLine } from '../../terminal/neutralise.ts';
import type { ComponentAnswer } from './component-view.ts';

/** Newest entries of the timeline that are looked through. */
const LOOKED_THROUGH = 50;

/**
 * Why a layer of the component is not applied, of the last session that says why: what failed on it, or what ended the session; null when all
 * is well, or nothing says it.
 */
export async function lastTrouble(api: ApiClient, component: ComponentAnswer): Promise<string | null> {
  const bad = (component.state ?? []).filter(({ status }) => status === 'failed' || status === 'incomplete');
  if (bad.length === 0) return null;
  const sessions = new Set(bad.map(({ session_name }) => session_name));
  for (const entry of await timelineOf(api, component.id)) {
    if (!('session' in entry) || entry.session === null || !sessions.has(entry.session)) continue;
    const why = whyOf(entry);
    if (why !== null) return `${oneLine(why)} (session ${entry.session})`;
  }
  return null;
}

function whyOf(entry: TimelineEntry): string | null {
  if (entry.type === 'layer') return entry.is_check ? null : (entry.message ?? null);
  return entry.type === 'batch' && entry.result === 'failure' ? entry.reason : null;
}

async function timelineOf(api: ApiClient, id: string): Promise<TimelineEntry[]> {
  const path = `/api/v1/components/${segment(id)}/timeline`;
  try {
    const query = { limit: LOOKED_THROUGH };
    return (await api.json<{ entries: TimelineEntry[] }>({ method: 'GET', path, query })).entries;
  } catch (error) {
    // Who may read the component alone, or talks to a CFS of before, sees it without.
    if (error instanceof CliFailure) return [];
    throw error;
  }
}
