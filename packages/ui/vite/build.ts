/** What every build for a browser has in common: no inline script or style, because the hub's policy refuses both. */
import type { BuildOptions } from 'vite'

export const buildOptions: BuildOptions = {
  // light-dark() is left to the browser: rewriting it for older ones would tie every token to a class of its own.
  target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  // The contract only declares, so a page that takes one constant from it carries no schemas.
  rolldownOptions: {
    treeshake: { moduleSideEffects: [{ test: /packages[\\/]contract[\\/]/, sideEffects: false }] },
    // On a slow machine it would warn of our own compression, which takes its time.
    checks: { bundlerTimings: false },
  },
}
