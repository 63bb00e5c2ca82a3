/** Shared by every build for a browser: no inline script or style, because the hub's policy refuses both. */
import type { BuildOptions } from 'vite'

export const buildOptions: BuildOptions = {
  // light-dark() stays as it is: a rewrite for older browsers would need a class for every token.
  target: ['chrome123', 'edge123', 'firefox120', 'safari17.5'],
  assetsInlineLimit: 0,
  modulePreload: { polyfill: false },
  // The contract has no side effects, so a page that imports one constant gets no schemas.
  rolldownOptions: {
    treeshake: { moduleSideEffects: [{ test: /packages[\\/]contract[\\/]/, sideEffects: false }] },
    // Our own compression is slow enough for this warning on a slow machine.
    checks: { bundlerTimings: false },
  },
}
