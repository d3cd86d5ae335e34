/** One measured claim: what, the bar it is held against, and what was found. */
export interface Measurement {
  what: string;
  bar: string;
  measured: string;
  met: boolean;
  /** The raw figures behind it. */
  samples: Record<string, number[]>;
}

export const round = (value: number, digits = 2): number => Number(value.toFixed(digits));
