/* global SwaggerUIBundle, SwaggerUIStandalonePreset */
// Beside this script, wherever the page is mounted.
const documents = new URL('../openapi/', document.currentScript.src);

SwaggerUIBundle({
  dom_id: '#page',
  urls: [
    { name: 'CFS version 3', url: new URL('v3.json', documents).pathname },
    { name: 'CFS version 2', url: new URL('v2.json', documents).pathname },
    { name: 'Muster', url: new URL('muster.json', documents).pathname },
    { name: 'Image service', url: new URL('ims.json', documents).pathname },
    { name: 'Application placement', url: new URL('placement.json', documents).pathname },
  ],
  presets: [SwaggerUIBundle.presets.apis, SwaggerUIStandalonePreset],
  layout: 'StandaloneLayout',
  deepLinking: true,
  docExpansion: 'none',
  defaultModelsExpandDepth: 0,
  validatorUrl: null,
});
