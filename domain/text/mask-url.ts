/** The address without password and, for http and https, without user: fit for messages and records. */
export function maskUrlCredentials(text: string): string {
  return text.replace(/([A-Za-z][A-Za-z0-9+.-]*:\/\/)([^\s/'"]*)@/g, (whole, scheme: string, info: string) => {
    const colon = info.indexOf(':');
    if (colon >= 0) return `${scheme}${info.slice(0, colon)}:***@`;
    return /^https?:/i.test(scheme) ? `${scheme}***@` : whole;
  });
}
