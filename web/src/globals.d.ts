/** Version of Muster that the page was built from. */
declare const MUSTER_VERSION: string;

declare module '*.css';

declare module '*?sharedworker&url' {
  const url: string;
  export default url;
}
