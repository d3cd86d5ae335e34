/** A session that holds after a failure, and what may be done with it. */
interface Hold {
  /** Undefined where it is not known. */
  session: string | undefined;
  failure: string;
  now: Date;
  until: Date;
  /** Folder of its files on the machine that has them; undefined where it has none, or it is not known. */
  workspace: string | undefined;
}

/**
 * The sentence for people: `held until 10:29:52Z after layer 1/2 site.yml failed: ...; `./muster session retry NAME` ...`. The date stands with the
 * time where it is another day.
 */
export function describeHold({ session = 'NAME', failure, now, until, workspace }: Hold): string {
  const [day, clock] = parts(until);
  const time = day === parts(now)[0] ? clock : `${day}T${clock}`;
  const where = workspace === undefined ? '' : `; workspace ${workspace}`;
  const commands = `\`./muster session retry ${session}\` runs it again, \`./muster session finish-debug ${session}\` ends it`;
  return `held until ${time} after ${failure}; ${commands}${where}`;
}

function parts(time: Date): [day: string, clock: string] {
  const text = time.toISOString();
  return [text.slice(0, 10), `${text.slice(11, 19)}Z`];
}
