/** The short form: one document makes all records of a deployment, in one transaction, and starts it. */
import { createHash } from 'node:crypto';
import type { Acting } from '../../domain/access/acting.ts';
import { ARCHIVE_LIMITS } from '../../domain/deployments/archive-rules.ts';
import { inDependencyOrder } from '../../domain/deployments/dependencies.ts';
import {
  cloudOf,
  SHORT_PROFILE,
  SHORT_PROJECT,
  SHORT_VERSION,
  shortPlace,
} from '../../domain/deployments/deployment-name.ts';
import { notSupported } from '../../domain/deployments/not-supported.ts';
import type { PackManifests } from '../../domain/deployments/ports.ts';
import type { recordPath } from '../../domain/deployments/record-path.ts';
import type { GroupRecord } from '../../domain/deployments/record-schema.ts';
import type { Metadata } from '../../domain/deployments/schema.ts';
import {
  contentOf,
  placementOf,
  type ShortApp,
  type ShortDeployment,
  settingsOf,
} from '../../domain/deployments/short-schema.ts';
import { musterError } from '../../domain/errors.ts';
import type { Db } from '../../store/connection/database.ts';
import { appendAction } from '../../store/deployments/histories.ts';
import type { Written } from '../../store/deployments/providers.ts';
import { holdRecord, insertRecord } from '../../store/deployments/records.ts';
import { findShort, insertShort, isRemoved } from '../../store/deployments/short-deployments.ts';
import { callGroupIn, type LifecycleDependencies } from './group-lifecycle.ts';
import { checkSettings, INTENT_KEY } from './instantiate.ts';
import { type AppDependencies, type PreparedApp, prepareApp, specOfApp, writeApp } from './put-app.ts';
import { addRecordIn, recordNotFound } from './records.ts';
import { standingOf } from './situation.ts';
import { wantedContext } from './tell-context.ts';

export interface ShortDependencies extends AppDependencies, LifecycleDependencies {
  packManifests: PackManifests;
}

/** Names of the records of which a deployment of the short form has one each. */
const RELEASE = 'r1';
const PLACEMENT_INTENT = 'placement';
const INTENT = 'intents';

/**
 * Makes a deployment of one document, and approves and instantiates it as the document says. The same document again makes nothing; what it
 * says is to be done and was not yet, is done. Returns what of the archives was left out.
 * Throws `not_supported`, `dependency_cycle`, `already_exists` where the deployment has other content, and what uploading, approving and instantiating throw.
 */
export async function applyDeployment(
  deps: ShortDependencies,
  by: Acting,
  given: ShortDeployment,
): Promise<{ warnings: string[] }> {
  const settings = settingsOf(given.muster ?? {});
  checkSettings({ spec: { muster: settings } } as GroupRecord);
  if (given.apps.some(({ substitute }) => substitute === true)) throw notSupported('substitute of an app');
  checkOrder(given.apps);
  const place = shortPlace(given.name);
  const digest = createHash('sha256').update(contentOf(given)).digest();
  const isThere = await isSame(deps, place.path, digest);
  const prepared = isThere ? new Map<string, PreparedApp>() : await prepareApps(deps, place.compositeApp, given.apps);
  const content = isThere ? null : await deps.manifestSeal.seal(digest, placeOfContent(place.path));
  const written = { actor: by.actor, operation: by.operation ?? null, now: deps.clock() };
  const told = await deps.db.transaction().execute(async (trx) => {
    if (content !== null && (await makeRecords(trx, given, { prepared, settings, written }))) {
      await insertShort(trx, place.path, content);
    } else if (!(await isSame({ ...deps, db: trx }, place.path, digest))) {
      throw isThere ? goneMeanwhile(given.name) : taken(given.name);
    }
    if (await isRemoved(trx, place.path))
      throw musterError('invalid_state', `Deployment '${given.name}' is being removed`);
    return await proceed(trx, given, written);
  });
  if (told !== '') await deps.tell([wantedContext(told)]);
  return {
    warnings: [...prepared].flatMap(([app, { warnings }]) => warnings.map((warning) => `app ${app}: ${warning}`)),
  };
}

/** All apps are in the document, so what is missing in it never comes. Throws `dependency_cycle`. */
function checkOrder(apps: readonly ShortApp[]): void {
  const waits = new Map(apps.map(({ name, depends_on = [] }) => [name, depends_on]));
  inDependencyOrder([...waits.keys()], waits, 'app', 'apps.depends_on');
}

function placeOfContent(path: string): string {
  return `content of ${path}`;
}

/** Whether a deployment is there whose document said the same. Throws `already_exists` where it said something else. */
async function isSame(
  { db, manifestSeal }: Pick<ShortDependencies, 'db' | 'manifestSeal'>,
  path: string,
  digest: Buffer,
): Promise<boolean> {
  const stored = await findShort(db, path);
  if (stored === null) return false;
  if ((await manifestSeal.open(stored, placeOfContent(path))).equals(digest)) return true;
  const name = path.slice(path.lastIndexOf('/') + 1);
  throw musterError(
    'already_exists',
    `Deployment '${name}' exists with other content: remove it first, since updates are not built yet`,
  );
}

function goneMeanwhile(name: string) {
  return musterError('invalid_state', `Deployment '${name}' was removed at the same moment: send the document again`);
}

function taken(name: string) {
  const app = `composite app '${name}' of version ${SHORT_VERSION}`;
  return musterError(
    'already_exists',
    `Project '${SHORT_PROJECT}' has a ${app} that is of no deployment '${name}': remove it, or choose another name`,
  );
}

/** All archives of a document may have as much together as one archive may have by itself: they are held at the same time. */
async function prepareApps(
  deps: ShortDependencies,
  compositeApp: string,
  apps: readonly ShortApp[],
): Promise<Map<string, PreparedApp>> {
  const prepared = new Map<string, PreparedApp>();
  let left: number = ARCHIVE_LIMITS.unpackedBytes;
  for (const { name, manifests, bundle } of apps) {
    const archive = manifests === undefined ? Buffer.from(bundle ?? '', 'base64') : await deps.packManifests(manifests);
    const app = await prepareApp(deps, compositeApp, name, archive, left);
    prepared.set(name, app);
    left -= app.bytes;
  }
  return prepared;
}

/** Makes all records. Returns false, and makes nothing, where the composite app is there. */
async function makeRecords(
  trx: Db,
  { name, description, namespace, apps }: ShortDeployment,
  { prepared, settings, written }: { prepared: ReadonlyMap<string, PreparedApp>; settings: object; written: Written },
): Promise<boolean> {
  const { project, compositeApp, path } = shortPlace(name);
  const own = named(SHORT_PROJECT);
  await insertRecord(trx, { kind: 'project', path: project, parent: null, metadata: own, spec: {} }, written);
  // It may be removed at the same moment.
  if ((await holdRecord(trx, { kind: 'project', path: project }, 'share')) === null)
    throw recordNotFound('project', project);
  const record = { kind: 'composite-app', path: compositeApp, parent: project, metadata: named(name) } as const;
  if ((await insertRecord(trx, { ...record, spec: { version: SHORT_VERSION } }, written)) !== 'added') return false;
  const add = async (kind: Parameters<typeof recordPath>[1], parent: string, metadata: Metadata, spec: object = {}) =>
    (await addRecordIn(trx, written, { kind, parent }, { metadata, spec })).path;
  for (const { name: app, depends_on } of apps) {
    const made = prepared.get(app);
    if (made !== undefined)
      await writeApp(trx, await add('app', compositeApp, named(app), specOfApp(depends_on)), made);
  }
  await add('composite-profile', compositeApp, named(SHORT_PROFILE));
  const cloud = await add('cloud', project, named(cloudOf(name)), { level: '0', namespace });
  const spec = { profile: SHORT_PROFILE, version: RELEASE, 'logical-cloud': cloudOf(name), muster: settings };
  await add('group', compositeApp, named(name, description), spec);
  for (const owner of [cloud, path]) await appendAction(trx, { owner, state: 'Created', instance: '' }, written);
  const placement = await add('placement-intent', path, named(PLACEMENT_INTENT));
  for (const app of apps) {
    await add('app-intent', placement, named(app.name), { 'app-name': app.name, intent: placementOf(app.placement) });
  }
  await add('intent', path, named(INTENT), { intent: { [INTENT_KEY]: PLACEMENT_INTENT } });
  return true;
}

/** Approves and instantiates what was not yet. Returns the AppContext that was made; empty without one. */
async function proceed(trx: Db, { name, approve, instantiate }: ShortDeployment, written: Written): Promise<string> {
  const place = shortPlace(name);
  const stateNow = async () => (await standingOf(trx, place.path)).state;
  if (approve && (await stateNow()) === 'Created') await callGroupIn(trx, 'approve', place, written);
  if (!instantiate || (await stateNow()) !== 'Approved') return '';
  return (await callGroupIn(trx, 'instantiate', place, written)).instance;
}

function named(name: string, description = ''): Metadata {
  return { name, description, userData1: '', userData2: '' };
}
