/** Names of clusters, of objects and of the label that ties a live object to its AppContext. */
import { musterError } from '../errors.ts';

export interface ClusterRef {
  provider: string;
  cluster: string;
}

/** Form of every name of this lane, and of a label's value. */
export const NAME_PATTERN = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

/** Longest name of a record. */
export const NAME_MAX = 128;

/** The label that every applied object has. Its value names the AppContext and the app. */
export const DEPLOYMENT_LABEL = 'emco/deployment-id';

/** Longest value of a label. */
const LABEL_MAX = 63;
/** Digits of the largest id of an AppContext. */
const ID_DIGITS = 19;
/** Longest name of an app that a label has room for, beside the id and a hyphen. */
export const APP_OF_LABEL_MAX = LABEL_MAX - ID_DIGITS - 1;

/** Returns `<provider>+<cluster>`. */
export function clusterName({ provider, cluster }: ClusterRef): string {
  return `${provider}+${cluster}`;
}

/** Returns the parts of `<provider>+<cluster>`; null when the text has not exactly one plus or a part is no name. */
export function parseClusterName(text: string): ClusterRef | null {
  const [provider = '', cluster = '', ...more] = text.split('+');
  return more.length === 0 && isName(provider) && isName(cluster) ? { provider, cluster } : null;
}

/** Whether a text can be the name of a record: 1 to 128 characters. */
function isName(text: string): boolean {
  return text.length <= NAME_MAX && NAME_PATTERN.test(text);
}

/** Whether a text is a name that a label may have as its value: 1 to 63 characters. */
export function isLabelValue(text: string): boolean {
  return text.length <= LABEL_MAX && NAME_PATTERN.test(text);
}

/** Returns the value of the label of an app's objects. */
export function labelValue(context: string, app: string): string {
  return `${context}-${app}`;
}

/** Returns AppContext and app of a label's value, which is split at its first hyphen; null where one of them is empty. */
export function parseLabelValue(value: string): { context: string; app: string } | null {
  const at = value.indexOf('-');
  if (at < 1 || at === value.length - 1) return null;
  return { context: value.slice(0, at), app: value.slice(at + 1) };
}

/** Throws `label_too_long` for the first app whose name has no room in the label. */
export function checkLabelLength(apps: readonly string[]): void {
  const long = apps.find((app) => app.length > APP_OF_LABEL_MAX);
  if (long === undefined) return;
  throw musterError(
    'label_too_long',
    `The name of app '${long}' has ${long.length} characters: the label ${DEPLOYMENT_LABEL} has room for ${APP_OF_LABEL_MAX}`,
  );
}

/** Orders texts by code point, as names are everywhere in this lane. */
export function byName(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
