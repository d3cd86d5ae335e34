/** Citations of the rules of CFS in comments, tests and documents, as docs/cfs-rules.md explains their form. */

const NUMBER = String.raw`\d+(?:\.(?:\d+|[a-z]\b))*(?!\w)`;
const CITATION = new RegExp(String.raw`^cfs-(?:(api|flows) (${NUMBER}(?:, ${NUMBER})*)|decision ([a-z])\b)`);
/** Begin of a citation: names of hosts (`cray-cfs-api`) are none. */
const SOURCE = /(?<![\w/.-])cfs-(?:api|flows|decision)\b(?![\w/-])/g;
/** What follows a citation of another form: a range, a conjunction, the kind of a part in words. */
const REST = /^(?:-\d|[,;]? (?:and |or |to )?(?:\d|rules?\b|rows?\b|steps?\b|decisions?\b)| [a-z](?![\w'` ]))/;
/** Stands for any number where a text speaks of the form itself. */
const PLACEHOLDER = /^cfs-(?:api|flows) N\b/;
/** Characters of an odd citation that a complaint shows. */
const SHOWN = 40;

export interface Citations {
  /** Each as the heading that it needs: `cfs-api 6.3`. */
  cited: string[];
  /** Begins of citations that have another form. */
  odd: string[];
}

/** The citations of a text in their order; a citation may go on in the next line of a comment. */
export function citationsIn(text: string): Citations {
  const joined = text.replace(/\s*\n\s*(?:\*(?!\/)|\/\/|#)?\s*/g, ' ');
  const found: Citations = { cited: [], odd: [] };
  for (const { index } of joined.matchAll(SOURCE)) {
    const rest = joined.slice(index);
    if (PLACEHOLDER.test(rest)) continue;
    const match = CITATION.exec(rest);
    if (match === null || REST.test(rest.slice(match[0].length))) {
      found.odd.push(rest.slice(0, SHOWN));
      continue;
    }
    const [, source, numbers = '', decision] = match;
    if (source === undefined) found.cited.push(`cfs-decision ${decision}`);
    else found.cited.push(...numbers.split(', ').map((number) => `cfs-${source} ${number}`));
  }
  return found;
}

/** The rules that the page explains, in its order: the citations in its headings, each with the text below it. */
export function rulesOf(page: string): { rule: string; text: string }[] {
  const [, ...blocks] = page.split(/^### /m);
  return blocks.map((block) => {
    const [heading = '', ...lines] = block.split('\n');
    const text = lines.filter((line) => !line.startsWith('#')).join(' ');
    return { rule: citationsIn(heading).cited.join(', '), text: text.trim() };
  });
}

const SOURCES = ['cfs-api', 'cfs-flows', 'cfs-decision'];

/** Order of rules on the page: by source, then part by part, numbers as numbers. */
export function compareRules(a: string, b: string): number {
  const [sourceA = '', numberA = ''] = a.split(' ');
  const [sourceB = '', numberB = ''] = b.split(' ');
  return SOURCES.indexOf(sourceA) - SOURCES.indexOf(sourceB) || byParts(numberA.split('.'), numberB.split('.'));
}

function byParts(a: readonly string[], b: readonly string[]): number {
  for (const [index, part] of a.entries()) {
    const other = b[index];
    if (other === undefined) return 1;
    const order = part.localeCompare(other, 'en', { numeric: true });
    if (order !== 0) return order;
  }
  return a.length - b.length;
}
