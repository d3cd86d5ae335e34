/** Label selectors: which resources of a kind an entry is meant for. */
export const SELECTOR_OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;
export type SelectorOperator = (typeof SELECTOR_OPERATORS)[number];

export interface SelectorExpression {
  key: string;
  /** One of the operators; what a file says is checked when it is loaded. */
  operator: string;
  values: string[];
}

export interface Selector {
  matchLabels: Record<string, string>;
  matchExpressions: SelectorExpression[];
}

/** Whether a word is an operator of selectors. */
export function isSelectorOperator(word: string): word is SelectorOperator {
  return SELECTOR_OPERATORS.some((operator) => operator === word);
}

/** Returns why an expression of a selector cannot be used, or null. */
export function selectorMistake({ operator, values }: SelectorExpression): string | null {
  if (!isSelectorOperator(operator)) return `selector: operator ${operator} is not known`;
  const wantsValues = operator === 'In' || operator === 'NotIn';
  if (wantsValues && values.length === 0) return `selector: operator ${operator} needs at least one value`;
  if (!wantsValues && values.length > 0) return `selector: operator ${operator} takes no values`;
  return null;
}

/** Whether labels meet all conditions of a selector; no selector takes everything. */
export function selects(selector: Selector | null, labels: Readonly<Record<string, string>>): boolean {
  if (selector === null) return true;
  const has = (key: string): boolean => Object.hasOwn(labels, key);
  return (
    Object.entries(selector.matchLabels).every(([key, value]) => has(key) && labels[key] === value) &&
    selector.matchExpressions.every(({ key, operator, values }) => {
      const isOne = has(key) && values.includes(labels[key] ?? '');
      if (operator === 'In') return isOne;
      if (operator === 'NotIn') return !isOne;
      if (operator === 'Exists') return has(key);
      return operator === 'DoesNotExist' && !has(key);
    })
  );
}
