/** A login of Postgres that an operator has for itself. */
export interface OperatorLogin {
  /** Name of the operator. */
  operator: string;
  /** Name of the role. */
  login: string;
}

const OPERATOR = /^[a-z0-9.-]{1,63}$/;
const LOGIN = /^[a-z_][a-z0-9_]{0,62}$/;

/** Reads `OPERATOR=LOGIN=FILE`, the file being that of the password; null for another form. */
export function readOperatorLogin(words: string): (OperatorLogin & { file: string }) | null {
  const [operator = '', login = '', ...file] = words.split('=');
  if (!OPERATOR.test(operator) || !LOGIN.test(login) || file.length === 0) return null;
  return { operator, login, file: file.join('=') };
}
