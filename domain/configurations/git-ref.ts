/**
 * Whether `name` may stand behind `refs/heads/` or `refs/tags/` (the rules of git-check-ref-format), and cannot be taken
 * for an option.
 */
export function isBranchOrTagName(name: string): boolean {
  if (name === '' || name.length > 1000 || name.startsWith('-')) return false;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
  if (/[\u0000-\u0020\u007f~^:?*[\\]|\.\.|@\{|\/\//u.test(name)) return false;
  if (name.startsWith('/') || name.endsWith('/') || name.endsWith('.')) return false;
  return name.split('/').every((part) => !part.startsWith('.') && !part.endsWith('.lock'));
}

/** Whether `text` is a full commit id. Upper case counts: git reads it too. */
export function isCommitId(text: string): boolean {
  return /^[0-9a-f]{40}$/i.test(text);
}

/** Whether `text` may be a commit id or the beginning of one (7 to 40 hexadecimal digits). */
export function looksLikeCommitId(text: string): boolean {
  return /^[0-9a-f]{7,40}$/i.test(text);
}

/** The full names to ask a remote for, so that nothing else with the same ending answers. */
export function refsToAsk(name: string): string[] {
  return [`refs/heads/${name}`, `refs/tags/${name}`, `refs/tags/${name}^{}`];
}

/**
 * The commit that `git ls-remote` names for `name`: the branch before the tag, what an annotated tag points at before the
 * tag's own object. `null` when the remote has neither.
 */
export function commitOfRef(lsRemote: string, name: string): string | null {
  const found = refLines(lsRemote);
  const [branch, tag, peeled] = refsToAsk(name).map((ref) => found.get(ref));
  return branch ?? peeled ?? tag ?? null;
}

/** The commit that `git ls-remote <url> HEAD` names; `null` when the repository has no commit. */
export function commitOfHead(lsRemote: string): string | null {
  return refLines(lsRemote).get('HEAD') ?? null;
}

function refLines(lsRemote: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of lsRemote.split('\n')) {
    const [id, ref] = line.split('\t');
    if (id !== undefined && ref !== undefined && isCommitId(id)) found.set(ref, id);
  }
  return found;
}
