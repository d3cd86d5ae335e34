export interface NameSources {
  /** Of `--operator-name`. */
  flag: string | undefined;
  /** Of `--leader-election-id`. */
  electionId: string | undefined;
  /** Of `OPERATOR_NAME`. */
  variable: string | undefined;
  /** SHA-256 of the absolute path of the home, in hexadecimal digits. */
  homeDigest: string;
  /** Namespace of the pod; null outside of pods. */
  podNamespace: string | null;
}

const FORM = /^[a-z0-9.-]{1,63}$/;
const DIGITS = 12;

/** Returns the name of the operator that a process belongs to, or why the name cannot be used. */
export function operatorName(sources: NameSources): { name: string } | { mistake: string } {
  const digits = sources.homeDigest.slice(0, DIGITS);
  const made = sources.podNamespace === null ? digits : `${sources.podNamespace}-${digits}`;
  const name = sources.flag || sources.electionId || sources.variable || made;
  if (FORM.test(name)) return { name };
  return { mistake: `${JSON.stringify(name.slice(0, 100))} is no name of an operator: at most 63 of a-z 0-9 . -` };
}
